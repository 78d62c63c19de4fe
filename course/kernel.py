"""The product of few positions and many weights, as fast as the weights can be read.

The kernel of course.machine.skinny, written one level lower, in LLVM's own language, for the sake
of one instruction that Python has no word for: *prefetch*, which asks for weights before they are
needed. Without it the arithmetic of five positions stands between two reads; with it both go on at
once. llvmlite comes with numba and compiles it on this machine. Left out: several threads, other
number formats.
"""
import ctypes
import functools
import importlib.util

import numpy as np

AHEAD = 1024  # weights between the one that is used and the one that is asked for: 4 KB
MOST = 8  # positions that share one walk along a row
PIECE = 1536  # weights of a row; 8 positions of so many numbers take 48 KB
FEW = 32  # positions; beyond them the arithmetic takes longer than the reading anyhow
LARGE = 2**21  # bytes; smaller weights stay in the cache, where NumPy's own product is as good


@functools.cache
def missing():
    """Is llvmlite absent, so that there is no kernel?"""
    return importlib.util.find_spec("llvmlite") is None


def source(n, lanes, registers, most=MOST):
    """The LLVM text of skinny(x, w, y, d_in, d_out) for n positions.

    Rows of w are walked together, with one running sum a row and position, each a vector of `lanes`
    numbers: as many rows as the registers allow. The rows lie q apart; if d_out is no multiple of
    their number the last walks overlap. More than `most` positions are taken in groups, and a later
    group finds the same rows in the cache.
    """
    groups = np.array_split(np.arange(n), -(-n // most))
    rows = range(max(1, min(6, (registers - 2) // len(groups[0]))))
    vector = f"<{lanes} x float>"
    text = [f"""\
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare {vector} @llvm.fmuladd.v{lanes}f32({vector}, {vector}, {vector})
declare float @llvm.vector.reduce.fadd.v{lanes}f32(float, {vector})
define void @skinny(ptr %x, ptr %w, ptr %y, i64 %d_in, i64 %d_out) {{
entry:
  %up = add i64 %d_out, {len(rows) - 1}
  %q = udiv i64 %up, {len(rows)}
  %last = sub i64 %d_out, %q"""]
    text += [f"""\
  %h{i} = mul i64 %d_in, {i}
  %x{i} = getelementptr float, ptr %x, i64 %h{i}
  %g{i} = mul i64 %d_out, {i}
  %y{i} = getelementptr float, ptr %y, i64 %g{i}""" for i in range(n)]
    text += ["  br label %row", "row:",
             f"  %r = phi i64 [0, %entry], [%r1, %done{len(groups) - 1}]"]
    text += [f"""\
  %m{j} = mul i64 %q, {j}
  %l{j} = call i64 @llvm.umin.i64(i64 %m{j}, i64 %last)
  %s{j} = add i64 %r, %l{j}
  %f{j} = mul i64 %s{j}, %d_in
  %w{j} = getelementptr float, ptr %w, i64 %f{j}""" for j in rows]
    text += ["  br label %column0"]
    for g, group in enumerate(groups):
        text += _group(g, "%row" if g == 0 else f"%done{g - 1}", rows, group, lanes, vector)
        text += [f"  br label %column{g + 1}"] if g + 1 < len(groups) else []
    return "\n".join([*text, """\
  %r1 = add i64 %r, 1
  %more = icmp ult i64 %r1, %q
  br i1 %more, label %row, label %end
end:
  ret void
}"""])


def _group(g, before, rows, group, lanes, vector):
    """Lines that walk along the rows once for the positions of one group, and store their sums."""
    pairs = [(j, i) for j in rows for i in group]
    yield f"column{g}:"
    yield f"  %k{g} = phi i64 [0, {before}], [%k{g}n, %column{g}]"
    for j, i in pairs:
        yield f"  %a{j}_{i} = phi {vector} [zeroinitializer, {before}], [%b{j}_{i}, %column{g}]"
    for j in rows:
        yield f"""\
  %p{g}_{j} = getelementptr float, ptr %w{j}, i64 %k{g}
  %v{g}_{j} = load {vector}, ptr %p{g}_{j}, align 4"""
        if g == 0:  # the others find the weights in the cache
            yield f"""\
  %n{j} = getelementptr float, ptr %p0_{j}, i64 {AHEAD}
  call void @llvm.prefetch.p0(ptr %n{j}, i32 0, i32 2, i32 1)"""
    for i in group:
        yield f"""\
  %t{i} = getelementptr float, ptr %x{i}, i64 %k{g}
  %u{i} = load {vector}, ptr %t{i}, align 4"""
    for j, i in pairs:
        yield (f"  %b{j}_{i} = call {vector} @llvm.fmuladd.v{lanes}f32({vector} %v{g}_{j}, "
               f"{vector} %u{i}, {vector} %a{j}_{i})")
    yield f"""\
  %k{g}n = add i64 %k{g}, {lanes}
  %on{g} = icmp ult i64 %k{g}n, %d_in
  br i1 %on{g}, label %column{g}, label %done{g}
done{g}:"""
    for j, i in pairs:
        yield f"""\
  %c{j}_{i} = call reassoc float @llvm.vector.reduce.fadd.v{lanes}f32(float 0.0, {vector} %b{j}_{i})
  %z{j}_{i} = getelementptr float, ptr %y{i}, i64 %s{j}
  store float %c{j}_{i}, ptr %z{j}_{i}, align 4"""


def vectors():
    """(lanes, registers) of this processor's vectors of float32."""
    import llvmlite.binding as llvm
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 16, 32
    return (8, 16) if features.get("avx") else (4, 32)  # an ARM processor has 32 of four


def compiled(text):
    """The LLVM text of a kernel as a C function, and the engine that must outlive it."""
    import llvmlite.binding as llvm
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(  # an engine keeps its own
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)
    return kind(engine.get_function_address("skinny")), engine


@functools.cache
def _kernel(n):
    return compiled(source(n, *vectors()))


def cut(w):
    """Weights (d_out, d_in) as pieces (k, d_out, d_in / k) if a row is so long that the positions
    of `project` would not stay in the first cache while the row is walked; else w as it is."""
    k = -(-w.shape[1] // PIECE)
    if w.nbytes < LARGE or k == 1 or w.shape[1] % (16 * k):
        return w
    return np.ascontiguousarray(w.reshape(len(w), k, -1).transpose(1, 0, 2))


def project(x, w):
    """x @ w.T for n positions x (n, d_in) and weights w (d_out, d_in), or what cut(w) made of them.

    float32, row by row. Where the kernel cannot help (no llvmlite, small weights, many positions,
    an odd d_in) it is NumPy's own product.
    """
    if w.ndim == 3:
        return sum(map(project, np.split(x, len(w), 1), w))
    n, d_in = x.shape
    if w.nbytes < LARGE or n > FEW or d_in % 16 or missing():
        return x @ w.T
    x = np.ascontiguousarray(x)
    for a in (x, w):  # the kernel is told addresses alone
        if a.dtype != np.float32 or not a.flags.c_contiguous or a.shape[1] != d_in:
            raise ValueError("x and w must be float32 matrices of one d_in, w stored row by row: "
                             "use np.ascontiguousarray(w, dtype=np.float32)")
    y = np.empty((n, len(w)), np.float32)
    _kernel(n)[0](x.ctypes.data, w.ctypes.data, y.ctypes.data, d_in, len(w))
    return y
