"""Make the pair: python -m course.train writes tales, trains both models, distils the draft.

The target learns tales by cross-entropy. The draft learns the same tales, then learns from the
target on the target's own text (on-policy distillation, Agarwal et al. 2024, arXiv:2306.13649):
first the cross-entropy to its laws, at last the total variation, which is what is rejected
(DistillSpec, arXiv:2310.08461). Everything is seeded; the number of threads may change a rounding.
Left out: GPUs, number formats under 32 bits, texts other than tales.
"""
import argparse
import copy
import json
import os
import pathlib
import time

import numpy as np
import torch
from tqdm import tqdm

from course import pair, tales
from course.ngram import witten_bell
from course.transformer import Transformer

SHAPES = {"target": {"width": 128, "layers": 4, "heads": 4},
          "draft": {"width": 40, "layers": 1, "heads": 4}}
CONTEXT = 256
BATCH = 16
PROMPTS = 48  # beginnings on which acceptance is measured


def stream(tokenizer, texts):
    """All texts one after another as a tensor of tokens, an end token before and after each."""
    ids = [0]
    for encoding in tokenizer.encode_batch(texts):
        ids += [*encoding.ids, 0]
    return torch.tensor(ids)


def rows_of(tokens, length):
    """All rows (N, length + 1) of tokens that begin where a tale does."""
    rows = tokens.unfold(0, length + 1, 1)
    return rows[tokens[:len(rows)] == 0]


def batches(rows, n, rng):
    """n batches (BATCH, length + 1) drawn from rows."""
    for _ in range(n):
        yield rows[torch.randint(len(rows), (BATCH,), generator=rng)]


def cross_entropy(net, rows):
    """Nats a token of the net on rows (B, length + 1), a tensor that can be differentiated."""
    logits, _ = net(rows[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def learn(net, losses, steps, rate, label):
    """Follow the gradient of each loss in turn (AdamW); the rate rises, then falls."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    bar = tqdm(enumerate(losses), total=steps, desc=label, mininterval=1)
    for step, loss in bar:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 50) * (
                0.525 + 0.475 * np.cos(np.pi * step / steps))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0:
            bar.set_postfix(loss=f"{loss.item():.3f}")
    return net.eval()


def train(shape, vocabulary, rows, steps, seed, label):
    """A net of the given shape that has learned the rows (N, length + 1) by cross-entropy."""
    net = Transformer(vocabulary, seed=seed, context=CONTEXT, dtype=torch.float32, **shape)
    with torch.no_grad():  # a net begins better where it knows nothing than where it is sure
        net.token.mul_(0.3)
        net.position.mul_(0.1)
    rng = torch.Generator().manual_seed(seed)
    losses = (cross_entropy(net, batch) for batch in batches(rows, steps, rng))
    return learn(net.train(), losses, steps, 2e-3, label)


@torch.no_grad()
def write(net, prompts, n, rng, T=1.0):
    """prompts (B, length) and n more tokens each, drawn from the net at temperature T."""
    x, cache = prompts, None
    for _ in range(n):
        logits, cache = net(x, cache)
        last = logits[:, -1]
        x = (last.argmax(-1, keepdim=True) if T == 0 else
             torch.multinomial((last / T).softmax(-1), 1, generator=rng))
        prompts = torch.cat([prompts, x], 1)
    return prompts


def distances(p, q):
    """The total variation (..., ) between laws (..., V)."""
    return (p - q).abs().sum(-1) / 2


def distil(draft, target, rows, steps, seed, label):
    """The draft after steps that bring its laws nearer to the target's on rows (N, length)."""
    draft, rng = copy.deepcopy(draft).train(), torch.Generator().manual_seed(seed)

    def losses():
        for step, batch in enumerate(batches(rows, steps, rng)):
            x = batch[:, :-1]
            with torch.no_grad():
                p = target(x)[0].softmax(-1)
            log_q = draft(x)[0].log_softmax(-1)
            yield (-(p * log_q).sum(-1).mean() if step < steps // 2
                   else distances(p, log_q.exp()).mean())
    return learn(draft, losses(), steps, 2e-3, label)


@torch.no_grad()
def alpha(law, target, rows, T):
    """The acceptance 1 - TV of each row (N, length), a mean over its tokens from the 41st on.

    law(rows) gives the draft's logits (N, length, V). At T = 0 both laws are a certainty.
    """
    p, q = target(rows)[0][:, 39:-1], law(rows)[:, 39:-1]
    if T == 0:
        return (p.argmax(-1) == q.argmax(-1)).double().mean(-1)
    return 1 - distances((p / T).softmax(-1), (q / T).softmax(-1)).double().mean(-1)


def report(target, drafts, held, seed=3, n=PROMPTS, length=140):
    """What the model card says: {draft: {T: (mean, least, greatest) acceptance over n prompts}}.

    The prompts are the first 40 tokens of n held-out tales, the target writes on.
    """
    found = {}
    for T in (1.0, 0.7, 0.0):
        rng = torch.Generator().manual_seed(seed)
        rows = write(target, held[:n, :40], length - 40, rng, T)
        for name, law in drafts.items():
            each = alpha(law, target, rows, T)
            found.setdefault(name, {})[f"{T:g}"] = [
                round(float(f(each)), 4) for f in (torch.mean, torch.min, torch.max)]
    return found


def counted(texts, vocabulary, order=5):
    """The n-gram table of texts as alpha wants it: rows (N, length) -> logits (N, length, V)."""
    model = witten_bell(texts, order, vocabulary)
    return lambda rows: torch.from_numpy(np.log([model(row) for row in rows.tolist()]))


def trained(shapes, vocabulary, rows, steps, own):
    """Four nets by name: the target, the draft as trained, and the draft distilled in two ways.

    steps: of the target, of the draft by itself, and of each way to distil it; own: rows of text.
    """
    target = train(shapes["target"], vocabulary, rows, steps[0], 1, "target")
    plain = train(shapes["draft"], vocabulary, rows, steps[1], 2, "draft")
    rng, starts = torch.Generator().manual_seed(9), torch.zeros(own, 1, dtype=torch.long)
    written = [write(target, part, rows.shape[1] - 1, rng)
               for part in tqdm(starts.split(50), desc="the target's own text")]
    return {"target": target, "draft as trained": plain} | {
        f"draft distilled {way}": distil(plain, target, text, steps[2], 5, f"distilled {way}")
        for way, text in (("on tales", rows[:own]), ("on-policy", torch.cat(written)))}


def make(out, n_tales=20_000, held=1_000, steps=(1_600, 2_000, 1_200), own=600, length=CONTEXT,
         shapes=None):
    """Train and distil a pair, store it in the folder out, and return what its card says."""
    began, shapes = time.monotonic(), shapes or SHAPES
    texts, held = tales.split(n_tales, held)
    tokenizer = tales.make_tokenizer(texts[:4_000])
    V, tokens = tokenizer.get_vocab_size(), stream(tokenizer, texts)
    nets = trained(shapes, V, rows_of(tokens, length), steps, own)
    drafts = {"5-gram table": counted([e.ids for e in tokenizer.encode_batch(texts)], V)}
    drafts |= {name: lambda rows, net=net: net(rows)[0]
               for name, net in nets.items() if name != "target"}
    shipped = {"target": nets["target"], "draft": nets["draft distilled on-policy"]}
    unseen = rows_of(stream(tokenizer, held), length)[:128]
    with torch.no_grad():
        losses = {name: round(cross_entropy(net, unseen).item(), 4) for name, net in nets.items()}
    card = {"tales": len(texts), "held out": len(held), "tokens": len(tokens), "vocabulary": V,
            "context": CONTEXT, "prompts": PROMPTS, "held-out loss, nats a token": losses,
            "acceptance": report(nets["target"], drafts, unseen),
            "weights": {name: sum(w.numel() for w in net.parameters())
                        for name, net in shipped.items()},
            "minutes": round((time.monotonic() - began) / 60, 1),
            "threads": torch.get_num_threads()}
    pair.save(out, shipped, shapes, tokenizer, card)
    return card


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/pair"),
                        help="the folder to write to (default: build/pair, beside the shipped one)")
    torch.set_num_threads(os.cpu_count())
    print(json.dumps(make(parser.parse_args().out), indent=1))
