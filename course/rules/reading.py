"""Entries about what is guessed and which rows are read: proposal, target, position, bonus."""
from course.rules.entry import Mistake
from course.rules.judges import draft_alone, first_unchecked, judged_by_first_row, last_unchecked
from course.rules.loops import late_cut, plain_target, raw_q, stale_after_first
from course.rules.rounds import (
                                 Round,
                                 draw,
                                 favourite,
                                 heated,
                                 misjudged,
                                 owed,
                                 rounded,
                                 rows_after,
                                 stale_then_fresh,
                                 top,
)

PROPOSAL = [
    Mistake("greedy-draft-soft-q", "proposal", Round(propose=misjudged(favourite)),
            "Your draft proposes its favourite, always, and you divide by the softmax q(x). The "
            "law it was drawn from is one-hot: divide by 1, or draw the guess from q.",
            "huggingface/transformers#32867, jaymody/speculative-sampling#3, z-lab/dflash#74"),
    Mistake("tempered-draft-raw-q", "proposal", Round(propose=misjudged(lambda q: heated(q, 0.5))),
            "You draw the guess from the tempered draft and divide by the q before the "
            "temperature. q must be the law that x was drawn from.",
            "huggingface/transformers#47932, huggingface/transformers#47961"),
    Mistake("topk-draft-raw-q", "proposal", Round(propose=misjudged(lambda q: top(q, 2))),
            "You draw the guess with some tokens shut out, as top-k or top-p does, and divide by "
            "the q before that. Scale q over the tokens that were left: that is the law x was "
            "drawn from.",
            "huggingface/transformers#47932"),
    Mistake("stale-draft-fresh-q", "proposal", stale_after_first(stale_then_fresh),
            "The draft guessed without reading the last token, and you divide by a q that has "
            "read it. x was not drawn from that q.",
            "vllm-project/vllm#9730, vllm-project/vllm#40269", level="loop"),
    Mistake("stale-draft-fresh-q-always", "proposal", Round(propose=stale_then_fresh),
            "The draft guessed without reading the last token, and you divide by a q that has "
            "read it. x was not drawn from that q.",
            "vllm-project/vllm#9730"),
    Mistake("rounded-draft", "proposal", Round(propose=misjudged(rounded)),
            "You draw the guess from a law that is nearly q, rounded perhaps, and divide by q "
            "itself. Use one and the same law for the draw and for the test.",
            "deepseek-ai/DeepSpec#31, deepseek-ai/DeepSpec#48"),
]

TARGET = [
    Mistake("tempered-target", "target", Round(
        look=lambda target, tokens, guesses: [heated(row, 0.5) for row in
                                              rows_after(target, tokens, guesses)]),
            "You judge by another law than the one that is wanted: by a temperature, or a cut, "
            "that nobody asked for."),
    Mistake("greedy-target", "target", Round(look=lambda target, tokens, guesses: [
        favourite(row) for row in rows_after(target, tokens, guesses)]),
            "You take the target's favourite where a token should be drawn: the law p counts, not "
            "its largest entry alone.",
            "EricLBuehler/mistral.rs#2424"),
    Mistake("draft-alone", "target", draft_alone,
            "The text follows the draft's law q: the target has no say in it. Are the two models "
            "swapped, or is the target never asked?"),
    Mistake("target-untempered", "target", plain_target,
            "You judge the guesses by the target as it is. The temperature, or the cut, must reach "
            "p too: the text follows p, and not the law that was wanted.",
            "vllm-project/vllm#9834, vllm-project/vllm#10198", level="wanted"),
    Mistake("cut-at-the-end-only", "target", late_cut,
            "You cut only what is drawn after a rejection and as a bonus. The guesses are checked "
            "against the full p, so tokens outside the cut get through.",
            "vllm-project/vllm#13933, vllm-project/vllm#15063, vllm-project/vllm#32107",
            level="wanted"),
    Mistake("reshaped-draft-raw-q", "proposal", raw_q,
            "You draw the guess from the reshaped draft and divide by the raw q. q must be the law "
            "that x was drawn from, after the temperature and after the cut.",
            "huggingface/transformers#47932", level="wanted"),
]

POSITION = [
    Mistake("rows-shifted", "position", Round(look=lambda target, tokens, guesses: [
        target((tokens + guesses)[:len(tokens) + i - 1] or tokens)[-1]
        for i in range(len(guesses) + 1)]),
            "Your rows of p are one position early. Guess i is judged by the row after the text "
            "and the first i guesses.",
            "NVIDIA/TensorRT-LLM#15098, huggingface/transformers#28166"),
    Mistake("rows-late", "position", Round(look=lambda target, tokens, guesses: [
        *rows_after(target, tokens, guesses)[1:], target(tokens + guesses)[-1]]),
            "Your rows of p are one position late: guess i is judged by the row that has already "
            "read it."),
    Mistake("short-text", "position", Round(look=lambda target, tokens, guesses: target(
        tokens[-1:] + guesses)),
            "The target does not read the whole text. Its rows must follow the prompt, all that "
            "was written, and the guesses so far."),
    Mistake("first-unverified", "position", Round(judge=first_unchecked),
            "The first guess is written without a test, so it follows q. The test begins with "
            "guess 0.",
            "ohdearquant/lattice#243"),
    Mistake("last-unverified", "position", Round(judge=last_unchecked),
            "The last guess of a round is written without a test, so it follows q. All γ guesses "
            "are tested; the token after them is the bonus."),
    Mistake("judged-by-first-row", "position", Round(judge=judged_by_first_row),
            "You judge every guess by the first row of p. Guess i has its own row, the one after "
            "the guesses before it."),
]

BONUS = [
    Mistake("bonus-wrong-row", "bonus", Round(bonus=lambda p, draft, text, rng: [
        draw(p[max(len(p) - 2, 0)], rng)]),
            "Your bonus token is drawn from the row that judged the last guess. Draw it from the "
            "next row, which has read that guess.",
            "vllm-project/vllm#8320, alibaba/rtp-llm#1295"),
    Mistake("bonus-from-draft", "bonus", Round(bonus=lambda p, draft, text, rng: [
        draw(draft(text)[-1], rng)]),
            "Your bonus token comes from the draft, and nobody checks it. Draw it from the "
            "target's last row.",
            "dphnAI/sonar#1101"),
    Mistake("bonus-argmax", "bonus", Round(bonus=lambda p, draft, text, rng: [int(p[-1].argmax())]),
            "Your bonus token is the target's favourite. It must be drawn from the last row."),
    Mistake("bonus-from-residual", "bonus", Round(bonus=lambda p, draft, text, rng: owed(
        0, p[-1], draft(text)[-1], rng)),
            "Your bonus token is drawn from a residual. No guess stood at its place, so nothing "
            "has been paid: draw it from p itself."),
]
