"""The grammar that writes the pair's training text, and the tokenizer made from it.

A tale chooses its facts once (who, how many, which colour, where) and returns to them to the end:
names, pronouns, a number that falls by one, an object that comes home. A small draft can have every
local word right; only a model that has read the tale has the facts right. Left out: dialogue beyond
question and answer, every tense but the past, surprise.
"""
import numpy as np

WOMEN = "Mara Ines Ada Brida Noor Hanna Vera Sofia Lena Ruth Greta Imke".split()
MEN = "Tomas Jon Emil Oskar Piet Karim Felix Anton Bruno Ivan Hugo Matti".split()
TRADES = "baker smith tailor potter miller weaver gardener painter sailor carpenter".split()
NUMBERS = "one two three four five six seven eight".split()
COLOURS = "red blue green white black yellow silver brown".split()
THINGS = "lanterns apples bells ribbons keys candles books cups kites coins baskets stones".split()
HOMES = ("in a box under the stairs", "on a shelf by the window", "in a chest at the door",
         "under the bed", "in the old cupboard", "behind the stove", "in a drawer of the table",
         "in a sack in the attic")
PLACES = ("the mill", "the river", "the market", "the lighthouse", "the station", "the old bridge",
          "the edge of the forest", "the harbour", "the church on the hill", "the school")
SIGHTS = ("the empty barn", "the stone wall", "the orchard", "the well", "the fence of the meadow",
          "the tall oak", "the bakery", "the pond", "the ruined tower", "the hedge")
LOST = "dog cat goat hat boat letter ring umbrella glove map".split()
SEASONS = "spring summer autumn winter".split()
TIMES = "morning evening afternoon night".split()
WEATHER = ("the wind took the roof off the barn", "it rained for an hour", "the fog came in",
           "snow lay on the road", "the moon was very bright", "the lamps went out in the village",
           "the river rose", "the sun stood low over the fields")

SENTENCES = (  # one of each line, in this order
    ("{hero} the {trade} had {n} {colour} {things}.",
     "In a small village lived {hero} the {trade}, who had {n} {colour} {things}."),
    ("{She} kept them {home}.", "{She} kept all of them {home}."),
    ("One {season} {time} {weather}.", "One {time} in {season} {weather}."),
    ("So {hero} took the {things} and went to {place}.",
     "{hero} put the {things} in a bag and walked to {place}."),
    ("The road led past {sight}.", "The way was long and led past {sight}.", ""),
    ("At {place} {she} met {friend}, who had lost {his} {lost}.",
     "There {she} met {friend}, who was looking for {his} {lost}."),
    ('"What is in your bag?" asked {friend}. "{N} {things}," said {hero}, "and all of them are '
     '{colour}."',
     '"How many {things} do you have?" asked {friend}. "{N}," said {hero}.'),
    ('"I have lost my {lost}," said {friend}.', ""),
    ("They looked for the {lost} until it was dark, and found it behind {found}.",
     "Together they found the {lost} behind {found}.",
     "The {lost} was behind {found}, and {friend} laughed."),
    ("{hero} gave {him} one of the {colour} {things}, and {left} were left.",
     "Then {hero} gave {friend} one of the {things}, so that {left} were left."),
    ('"Thank you," said {friend}.', '{friend} took it and thanked {hero}.', ""),
    ("After that {hero} went home from {place}.", "Then {she} walked home, past {sight}."),
    ("{She} put the {left} {colour} {things} back {home}.",
     "That {time} {left} {colour} {things} lay {home} again."),
    ("And {friend} never lost {his} {lost} again.",
     "All {season} {friend} spoke of {hero} the {trade}.", ""),
)
END = "<end>"  # token 0: stands before and after every tale


def pick(words, rng):
    """One of words, each as likely as the other."""
    return words[rng.integers(len(words))]


def facts(rng):
    """What a tale is about, as a dict of words: chosen once, returned to later."""
    names, friends = (WOMEN, MEN) if rng.random() < 0.5 else (MEN, WOMEN)
    n = int(rng.integers(2, len(NUMBERS)))  # NUMBERS[n] is n + 1
    about = {"hero": pick(names, rng), "friend": pick(friends, rng), "trade": pick(TRADES, rng),
             "n": NUMBERS[n], "left": NUMBERS[n - 1], "colour": pick(COLOURS, rng),
             "things": pick(THINGS, rng), "home": pick(HOMES, rng), "place": pick(PLACES, rng),
             "season": pick(SEASONS, rng), "time": pick(TIMES, rng),
             "weather": pick(WEATHER, rng), "lost": pick(LOST, rng)}
    about["sight"], about["found"] = (SIGHTS[i] for i in rng.permutation(len(SIGHTS))[:2])
    about["she"], about["his"], about["him"] = (
        ("she", "his", "him") if names is WOMEN else ("he", "her", "her"))  # his, him: the friend
    return about | {"She": about["she"].capitalize(), "N": about["n"].capitalize()}


def tale(rng):
    """One tale, as text on one line of some 130 words."""
    about = facts(rng)
    lines = (pick(options, rng).format(**about) for options in SENTENCES)
    return " ".join(line[0].upper() + line[1:] for line in lines if line)


def split(n, held, seed=0):
    """(training tales, held-out tales): held of n different tales, taken out at random.

    No tale is in both lists, though both are about the same few words.
    """
    rng = np.random.default_rng(seed)
    tales = list(dict.fromkeys(tale(rng) for _ in range(n)))  # a tale written twice counts once
    order = rng.permutation(len(tales))
    return [tales[i] for i in order[held:]], [tales[i] for i in order[:held]]


def make_tokenizer(tales, size=512):
    """A byte-level BPE tokenizer (Sennrich et al. 2016) of so many tokens; <end> is token 0."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(tales, trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], show_progress=False))
    return tokenizer
