"""Our loop beside the assisted generation of transformers: same weights, same kernel, same guesses.

A course.decoder.Decoder becomes a GPT2LMHeadModel that reads the very same memory, and whose
matrices go through course.kernel.project as ours do. So what differs is the loop and what stands
around it: cache, attention, sampling, bookkeeping. Assisted generation there is Leviathan et al.
2023, Algorithm 1, as here. Left out: other formats, several threads, batches.
"""
import contextlib
import functools
import itertools
import time

import numpy as np
import torch
import transformers

from course.decoder import as_model
from course.kernel import project
from course.machine import CLOCK
from course.models import counted
from course.pair import FACTS, gpt2_name
from course.speculative import autoregress, generate

LARGEST = 1e-3  # difference of two logits; float32 explains a hundredth of it


class Projection(torch.nn.Module):
    """x (1, n, d_in) -> (1, n, d_out) by course.kernel.project; w is the decoder's, not a copy."""

    def __init__(self, w):
        super().__init__()
        self.w, self.calls = w, 0

    def forward(self, x):
        self.calls += 1
        return torch.from_numpy(project(x[0].numpy(), self.w))[None]


@contextlib.contextmanager
def one_thread():
    """torch on one thread, without gradients; threads and random numbers are put back."""
    threads, loud = torch.get_num_threads(), transformers.logging.get_verbosity()
    try:
        torch.set_num_threads(1)
        transformers.logging.set_verbosity_error()  # it warns of its own calls
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            yield
    finally:
        torch.set_num_threads(threads)
        transformers.logging.set_verbosity(loud)


def as_transformers(decoder):
    """The decoder as a GPT2LMHeadModel that reads its memory (it is made on "meta", without)."""
    vocabulary, width = decoder.weights["token"].shape
    config = transformers.GPT2Config(**FACTS | {
        "vocab_size": vocabulary, "n_positions": decoder.context, "n_embd": width,
        "n_inner": decoder.blocks[0]["up.weight"].shape[-2], "n_layer": len(decoder.blocks),
        "n_head": decoder.heads, "bos_token_id": None, "eos_token_id": None})
    with torch.device("meta"):
        net = transformers.GPT2LMHeadModel(config).eval()
    for name, w in decoder.weights.items():
        part, _, kind = gpt2_name(name).rpartition(".")
        if w.ndim > 1 and name not in ("token", "position"):
            net.set_submodule(part, Projection(w))
        else:
            setattr(net.get_submodule(part), kind, torch.nn.Parameter(torch.from_numpy(w), False))
    if empty := [name for name, w in net.named_parameters() if w.is_meta]:
        raise RuntimeError(f"no weights for {empty[0]}: this GPT-2 has other parts than the pair")
    return net


def write(net, prompt, n_new, seed, assistant=None, gamma=0, greedy=False, logits=False):
    """What transformers writes after prompt: its output, whose sequences are (1, T).

    T = 1 and no cut (top_k = 0, top_p = 1), or greedy; gamma guesses a round, whatever happens. In
    its last round it guesses no more than it still needs, which ours does not. With logits, the
    output also has the logits and the scores that it drew by: n_new tensors (1, V) of each.
    """
    if assistant is not None:
        how = assistant.generation_config
        how.num_assistant_tokens, how.num_assistant_tokens_schedule = gamma, "constant"
        how.assistant_confidence_threshold = 0.0
    config = transformers.GenerationConfig(
        do_sample=not greedy, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=n_new,
        return_dict_in_generate=True, output_logits=logits, output_scores=logits)
    tokens = torch.tensor([prompt])
    torch.manual_seed(seed)
    return net.generate(tokens, attention_mask=torch.ones_like(tokens), generation_config=config,
                        assistant_model=assistant)


def largest_difference(decoder, net, prompt, n_new, seed, assistant=None, gamma=0):
    """The largest difference of the logits of both sides, on a text that transformers writes.

    So its cache, roll-back and passes over many positions are in. Raises RuntimeError for LARGEST
    or more, or if transformers changes the logits (top-k and the like) before it draws.
    """
    out = write(net, prompt, n_new, seed, assistant, gamma, logits=True)
    logits, scores = (torch.cat(rows).numpy() for rows in (out.logits, out.scores))  # (n_new, V)
    decoder.rollback(0)
    off = float(abs(logits - decoder(out.sequences[0, :-1].tolist())[-n_new:]).max())
    if not off < LARGEST:
        raise RuntimeError(f"the logits of both sides differ by {off:.2g}: no equal models")
    if not np.array_equal(scores, logits):
        raise RuntimeError("transformers changes the logits before it draws, so its law is another")
    return off


def _jobs(target, draft, nets, n_new, gamma):
    """The four ways to write by (side, with a draft?): (prompt, seed) -> passes of the target."""
    def ours(guess, prompt, seed):
        writer, rng = counted(as_model(target)), np.random.default_rng(seed)
        if guess:  # fresh models: nothing of the last text stays in the cache
            generate(writer, as_model(draft), prompt, n_new, gamma, rng)
        else:
            autoregress(writer, prompt, n_new, rng)
        return len(writer.passes)

    def theirs(guess, prompt, seed):
        before = nets[0].lm_head.calls
        write(nets[0], prompt, n_new, seed, nets[1] if guess else None, gamma)
        return nets[0].lm_head.calls - before
    return {(way.__name__, guess): functools.partial(way, guess)
            for guess in (True, False) for way in (ours, theirs)}


def _measure(jobs, prompts, repeats, seed):
    """{job: (prompts, runs, 3)}: seconds, seconds on the wall, passes; who begins changes.

    Without a draft luck plays no part: one run.
    """
    taken = {name: [[] for _ in prompts] for name in jobs}
    for (i, prompt), turn in itertools.product(enumerate(prompts), range(repeats)):
        order = [name for name in jobs if name[1] or turn == 0]
        for name in order[::-1 if (i + turn) % 2 else 1]:
            start, wall = CLOCK(), time.perf_counter()
            passes = jobs[name](prompt, seed + 1000 * i + turn)
            taken[name][i].append((CLOCK() - start, time.perf_counter() - wall, passes))
    return {name: np.array(runs) for name, runs in taken.items()}


def _median(theirs, ours):
    """The median over prompts of the median ratio of a prompt's paired runs (prompts, runs)."""
    return np.median(np.median(theirs / ours, axis=1))


def _summary(taken, n_new):
    """The figures of against_transformers, from what _measure took, as plain floats."""
    (us, wall, rounds), (them, their_wall, their_rounds) = (
        np.moveaxis(taken[side, True], -1, 0) for side in ("ours", "theirs"))
    alone, they_alone = (taken[side, False][..., 0] for side in ("ours", "theirs"))
    figures = {"vs_transformers_assisted": _median(them, us),
               "vs_transformers_plain": _median(they_alone, alone),
               "peer_ratio_lowest": np.median(them / us, axis=1).min(),  # of a prompt
               "peer_ratio_highest": np.median(them / us, axis=1).max(),
               "peer_ratio_a_round": _median(them / their_rounds, us / rounds),
               "peer_ratio_wall": _median(their_wall, wall)}
    for name, seconds, passes, plain in (("ours", us, rounds, alone),
                                         ("transformers", them, their_rounds, they_alone)):
        figures |= {f"peer_{name}_ms": 1e3 * np.median(seconds) / n_new,  # a token
                    f"peer_{name}_ms_plain": 1e3 * np.median(plain) / n_new,
                    f"peer_{name}_ms_a_round": 1e3 * np.median(seconds / passes),
                    f"peer_{name}_tokens_a_round": n_new * passes.size / passes.sum(),
                    f"peer_{name}_speed_up": _median(plain, seconds)}
    return {name: float(value) for name, value in figures.items()}


def against_transformers(target, draft, prompts, n_new, gamma, seed, repeats=3):
    """How fast our loop writes beside transformers' assisted generation: a dict of figures.

    target, draft: Decoders over one vocabulary. prompts: lists of tokens. Both sides write n_new
    tokens at T = 1 with gamma guesses a round, in paired turns on one thread; a ratio is their
    seconds over ours, the median of a prompt's `repeats` pairs, then the median over prompts.

    It counts all that a call does: the pass over the prompt in both models, new caches, drawing,
    and the set-up of generate() there. "vs_transformers_plain" is without a draft. By rounds rather
    than tokens, "peer_ratio_a_round", the luck of the draws is out of it; "peer_ratio_wall" is by
    the clock on the wall; "..._speed_up" compares a side with itself.
    RuntimeError if the logits of both sides differ. OMP_NUM_THREADS=1 holds NumPy to one thread.
    """
    if target.V != draft.V or gamma < 1 or not prompts:
        raise ValueError(f"{len(prompts)} prompts, gamma {gamma}, vocabularies {target.V} and "
                         f"{draft.V}: give a prompt or more, gamma from 1 on, and one vocabulary")
    with one_thread():
        nets = as_transformers(target), as_transformers(draft)
        few, jobs = min(n_new, 3 * gamma + 3), _jobs(target, draft, nets, n_new, gamma)
        off = [largest_difference(target, nets[0], prompts[0], few, seed, nets[1], gamma),
               largest_difference(draft, nets[1], prompts[0], few, seed)]  # and a warm-up
        counts = {*range(1, gamma + 2), *(len(p) + k for p in prompts for k in (0, gamma))}
        for decoder, n in itertools.product((target, draft), counts):  # compiles every kernel
            decoder.rollback(0)
            decoder(prompts[0][:1] * n)
        taken = _measure(jobs, prompts, repeats, seed)
    return _summary(taken, n_new) | {
        "peer_logits_off_target": off[0], "peer_logits_off_draft": off[1],
        "peer_gamma": gamma, "peer_tokens": n_new, "peer_prompts": len(prompts),
        "peer_repeats": repeats, "peer_seed": seed, "peer_threads": 1,
        "peer_megabytes": target.nbytes() / 2**20, "peer_clock": CLOCK.__name__,
        "peer_torch": str(torch.__version__), "peer_transformers": transformers.__version__}
