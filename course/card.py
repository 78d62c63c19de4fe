"""The model card of the pair, as text made from its figures: what course.train writes to README.md.

Follows Mitchell et al. 2019 (arXiv:1810.03993) in its headings. Left out: what a figure cannot say.
"""

TEXT = """\
# The pair: a target and a draft

Two small causal transformers over one tokenizer, made by this project with `python -m course.train`
and used from lesson 08 on. Code: BSD-3-Clause; weights, tokenizer and this card: CC BY 4.0.

**What they are for.** To show speculative decoding on two trained models that anybody can train.
They write tales of one grammar (`course/tales.py`) and know nothing of the world.

**Data.** {tales:,} tales by the grammar, {tokens:,} tokens; {held:,} others, drawn at random from
the same list, were held out. No tale is in both lists. No other text was used.

**Tokenizer.** Byte-level BPE with {V} tokens, made from the first 4,000 training tales with the
library `tokenizers`. Token 0, `<end>`, stands before and after every tale.

**Layout.** Each folder holds `config.json` and `model.safetensors` in the layout of GPT-2, so that
`transformers.GPT2LMHeadModel.from_pretrained("course/pair/target")` loads the same weights. All
biases of matrices are zero. `course.pair.load` reads the same files into NumPy.

| | weights | nats a token on held-out tales |
|---|---|---|
{losses}

**Acceptance.** 1 - TV between the two laws, a mean over the next 100 tokens of {n} held-out
beginnings of 40 tokens, written by the target at that temperature; in brackets the least and the
greatest mean of one beginning.

| draft | T = 1 | T = 0.7 | T = 0 (greedy) |
|---|---|---|---|
{acceptance}

The draft that is shipped is the last one. It learned the tales, then the target's laws on text that
the target itself had written, at first by cross-entropy, in the second half of the steps by total
variation, which is what a round rejects. On tales it came out alike, since the target's own text is
hardly other than a tale: what helps is to learn the target's whole law, not one token of it.

**Limits.** A beginning that no tale has leads to nonsense. A context is {context} tokens. Weights
trained with another number of threads differ by roundings that grow; figures then differ in the
third digit.

Trained in {minutes} minutes on {threads} threads of a processor, float32.
"""


def readme(card):
    """The model card as Markdown. card: what course.train.make returns."""
    losses, weights = card["held-out loss, nats a token"], card["weights"]
    rows = [f"| {name} | {weights[name.split()[0]]:,} | {loss:.3f} |"
            for name, loss in losses.items()]
    kept = [f"| {name} | " + " | ".join(
        f"{mean:.3f} ({low:.2f}–{high:.2f})" for mean, low, high in by_T.values()) + " |"
        for name, by_T in card["acceptance"].items()]
    return TEXT.format(tales=card["tales"], tokens=card["tokens"], held=card["held out"],
                       V=card["vocabulary"], n=card["prompts"], context=card["context"],
                       losses="\n".join(rows), acceptance="\n".join(kept),
                       minutes=card["minutes"], threads=card["threads"])
