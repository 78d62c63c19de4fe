"""The tales agree with themselves, word for word; no tale is in both lists; tokens give them back.

A tale is read here as text, by rules of its own, and not by the grammar that wrote it.
"""
import re

import numpy as np
import pytest

from course import tales
from course.tales import END, HOMES, MEN, NUMBERS, PLACES, SIGHTS, WOMEN, split, tale

TEXTS = [tale(np.random.default_rng(seed)) for seed in range(400)]


def only(found):
    """The one thing that a list of finds names, however often."""
    assert len(set(found)) == 1, found
    return found[0]


def among(words, text):
    """Those of the words that a text has, as whole words, in its order."""
    return re.findall(rf"\b({'|'.join(words)})\b", text)


def read(text):
    """What a tale is about; an assertion fails where it contradicts itself."""
    hero = re.match(r"(?:In a small village lived )?(\w+) the \w+", text)[1]
    friend = only([name for name in among(WOMEN + MEN, text) if name != hero])
    assert (hero in WOMEN) == (friend in MEN)
    about = {"hero": hero, "friend": friend}
    for name in ("TRADES", "COLOURS", "THINGS", "LOST", "SEASONS", "TIMES", "WEATHER"):
        about[name] = only(among(getattr(tales, name), text))
    about["home"] = only(found := among(HOMES, text))
    assert len(found) == 2  # kept there at the beginning, back there at the end
    about["place"] = only(re.findall(rf"\b(?:to|[Aa]t|from) ({'|'.join(PLACES)})\b", text))
    about["found"] = only(re.findall(rf"\bbehind ({'|'.join(SIGHTS)})", text))
    assert about["found"] not in (past := re.findall(r"\bpast (the [\w ]+)[.]", text))
    assert len(set(past)) <= 1
    speakers(text, hero, friend)
    return about | pronouns(text, hero, friend) | numbers(text)


def pronouns(text, hero, friend):
    """she or he is the hero; his, him or her the friend."""
    she = only([word.lower() for word in among(["She", "she", "He", "he"], text)])
    assert she == ("she" if hero in WOMEN else "he")
    assert set(among(["his", "him", "her", "His", "Him", "Her"], text)) <= (
        {"his", "him"} if friend in MEN else {"her"})
    return {"she": she}


def numbers(text):
    """Before the gift always n, after it always one fewer."""
    before, after = ([NUMBERS.index(word.lower()) + 1 for word in re.findall(r"\w+", part)
                      if word.lower() in NUMBERS[1:]] for part in re.split(" gave ", text))
    assert len(before) == 2 and only(after) == only(before) - 1
    return {"n": before[0], "left": after[0]}


def speakers(text, hero, friend):
    """The friend asks, the hero answers, gives and goes home; the friend has lost something."""
    assert only(re.findall(r'[?]" asked (\w+)', text)) == friend
    assert re.search(rf'\b(?:{"|".join(NUMBERS)})\b[^"]*," said {hero}\b', text, re.I)
    assert set(re.findall(r'I have lost my \w+," said (\w+)', text)) <= {friend}
    assert only(re.findall(r"(\w+) gave (?:him|her|\w+) one of", text)) == hero
    assert not re.search(rf"\bgave {hero}\b|thanked {friend}|{friend} spoke of {friend}", text)


@pytest.mark.parametrize("text", TEXTS[:100])
def test_a_tale_agrees_with_itself(text):
    read(text)


@pytest.mark.parametrize("spoil", [
    lambda text, about: re.sub(r"\b(She|He)\b", {"she": "He", "he": "She"}[about["she"]], text),
    lambda text, about: text.replace(" gave ", " gave two away, kept "),
    lambda text, about: NUMBERS[about["left"] - 2].join(text.rsplit(NUMBERS[about["left"] - 1], 1)),
    lambda text, about: HOMES[HOMES.index(about["home"]) - 1].join(text.rsplit(about["home"], 1)),
    lambda text, about: text.replace(f'asked {about["friend"]}', f'asked {about["hero"]}'),
    lambda text, about: text.replace(f'behind {about["found"]}', "behind the stove"),
    lambda text, about: text.replace(about["friend"], WOMEN[MEN.index(about["friend"])]
                                     if about["friend"] in MEN else MEN[0]),
    lambda text, about: text + " " + "And the lamps went out in the village, the river rose.",
])
def test_a_tale_that_contradicts_itself_is_noticed(spoil):
    """Or the test above would prove nothing."""
    text = TEXTS[0]
    with pytest.raises((AssertionError, IndexError, ValueError)):
        read(spoil(text, read(text)))


@pytest.mark.parametrize("text", TEXTS[:40])
def test_a_tale_is_one_line_of_whole_sentences(text):
    assert not re.search(r"[\n{}\d]|  |^ | $", text)
    assert re.fullmatch(r'["A-Z].*[.]', text)
    assert not re.search(r'[.?]"? [^"A-Z]', text.replace('?" asked', ""))  # a capital after an end
    assert text.count('"') % 2 == 0
    assert 80 < len(text.split()) < 170
    assert END not in text


def test_every_word_of_the_lists_is_told_somewhere():
    every = [read(text) for text in TEXTS]
    for name in ("TRADES", "COLOURS", "THINGS", "LOST", "SEASONS", "TIMES", "WEATHER"):
        assert {about[name] for about in every} == set(getattr(tales, name))
    assert {about["hero"] for about in every} == set(WOMEN + MEN)
    assert {about["home"] for about in every} == set(HOMES)
    assert {about["place"] for about in every} == set(PLACES)
    assert {about["found"] for about in every} == set(SIGHTS)
    assert {about["n"] for about in every} == set(range(3, 9))


# ---- seeds and lists

def test_the_seed_fixes_the_tale():
    a, b, c = (tale(np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert a == b != c


def test_training_and_held_out_tales_share_none():
    training, held = split(600, 100)
    assert len(held) == 100 and len(training) == 500
    assert len(set(training) | set(held)) == 600


def test_the_held_out_tales_are_taken_out_at_random():
    training, held = split(600, 100)
    rng = np.random.default_rng(0)
    written = {tale(rng): i for i in range(600)}
    places = sorted(written[text] for text in held)
    assert set(written) == set(training) | set(held)
    assert places[0] < 60 and places[-1] > 540 and 200 < np.mean(places) < 400


def test_the_seed_fixes_the_lists():
    assert split(50, 10) == split(50, 10, seed=0) != split(50, 10, seed=1)


def test_a_tale_written_twice_counts_once(monkeypatch):
    written = iter("abacb")
    monkeypatch.setattr(tales, "tale", lambda rng: next(written))
    training, held = split(5, 1)
    assert len(held) == 1 and sorted(training + held) == ["a", "b", "c"]


# ---- tokens

@pytest.fixture(scope="module")
def tokenizer():
    pytest.importorskip("tokenizers")
    return tales.make_tokenizer(TEXTS[:200])


def test_the_tokenizer_gives_back_every_tale(tokenizer):
    for text in TEXTS:  # half of them it has not seen
        tokens = tokenizer.encode(text).ids
        assert tokenizer.decode(tokens) == text
        assert 0 < min(tokens) and max(tokens) < 512 and len(tokens) < 256


def test_the_end_is_token_0(tokenizer):
    assert tokenizer.token_to_id(END) == 0 and tokenizer.id_to_token(0) == "<end>"
    assert tokenizer.get_vocab_size() == 512
    assert tales.make_tokenizer(TEXTS[:200], size=128).get_vocab_size() == 128


def test_what_no_tale_has_gets_no_token(tokenizer):
    """Why course.pair.encode looks at what came back."""
    assert tokenizer.decode(tokenizer.encode("Mara é 7").ids) == "Mara  "
