# SPDX-License-Identifier: BSD-3-Clause
"""An invented language with known topics: text of any length, any part of it made alone.

Half of the words are English stop words. The others are invented: a shared background with Zipf's
law, and topics, each with its own few thousand words and Zipf's law inside. A document has one to
four topics and 0.8 to 3 KB. A few words in a thousand occur only once, as names and typing errors
do, and one in eight of these has an accent. Document n depends on the seed and n alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from discan.kernels.compile import kernel, part
from discan.kernels.random import open_stream, uniform
from discan.readers.stop_words import english_stop_words
from discan.typing import Array

__all__ = ["MEAN_BYTES", "Language"]

ONSETS = "b d f g h k l m n p r s t v w z br ch cl dr fl gr pl sh st th tr".split()
NUCLEI = "a e i o u ai ee ou".split()
CODAS = ["", *"n r s t l m nt ng ck st th".split()]
MOST_SYLLABLES = 4

STOP, RARE, BACKGROUND = 0.45, 0.004, 0.2  # shares of the tokens; the rest belongs to the topics
SENTENCE, COMMA = 0.06, 0.06  # chance that a word ends a sentence, or is followed by a comma
SHORTEST, LONGEST = 800.0, 3000.0  # bytes of a document
MEAN_BYTES = (LONGEST - SHORTEST) / np.log(LONGEST / SHORTEST) + 5.0
MOST_TOPICS = 4
TEXT = np.int64(1000)  # purpose of the random streams


@dataclass(frozen=True)
class Language:
    """Words and topics, and the text that is made of them.

    Parameters
    ----------
    seed : int
    n_topics, n_words, topic_words : int
        Topics; invented words, without those that occur once; words of a topic.
    """

    seed: int = 0
    n_topics: int = 200
    n_words: int = 100_000
    topic_words: int = 4096

    # ---- what is true ----

    @cached_property
    def words(self) -> list[str]:
        """The invented words, the most frequent of the background first, (J,)."""
        stop_words = english_stop_words()
        letters, ends = self._spelling
        text = letters.tobytes()
        first = len(stop_words)
        return [text[a:b].decode() for a, b in zip(ends[first:-1], ends[first + 1 :], strict=True)]

    @property
    def components(self) -> sparse.csr_matrix:
        """Probability of each word in each topic and, last, in the background, (T + 1, J)."""
        topics, _ = self._topics
        size = topics.shape[1]
        weights = np.tile(_zipf(size, 5.0), self.n_topics)
        indptr = np.arange(self.n_topics + 1) * size
        shape = (self.n_topics, self.n_words)
        own = sparse.csr_matrix((weights, topics.ravel(), indptr), shape=shape)
        shared = sparse.csr_matrix(_zipf(self.n_words, 10.0)[None])
        return sparse.vstack([own, shared], format="csr")

    def proportions(self, first: int, n_documents: int) -> Array:
        """Shares of the topics and the background in documents, stop words aside, (n, T + 1)."""
        shares = np.zeros((n_documents, self.n_topics + 1))
        describe(np.int64(self.seed), first, self._popularity, shares)
        own = 1.0 - STOP - RARE - BACKGROUND
        shares *= own / (own + BACKGROUND)
        shares[:, -1] = BACKGROUND / (own + BACKGROUND)
        return shares

    # ---- text ----

    def text(self, first: int, n_documents: int) -> tuple[Array, Array]:
        """Return the bytes of documents, each ended by a line feed, and where they end, (n,)."""
        letters, spelling = self._spelling
        topics, topic_alias = self._topics
        room = int(LONGEST) + int(np.diff(spelling).max()) + 64
        out = np.empty(n_documents * room, np.uint8)
        ends = np.empty(n_documents, np.int64)
        size = write(
            np.int64(self.seed), first, letters, spelling, self._stop_alias, self._word_alias,
            self._popularity, topics, topic_alias, self._parts_of_words, out, ends,
        )  # fmt: skip
        return out[:size], ends

    @cached_property
    def _spelling(self) -> tuple[Array, Array]:
        """Bytes of the stop words and the invented words, and where each begins."""
        stop_words = sorted(english_stop_words(), key=lambda word: (len(word), word))
        invented = _invented(self.n_words, set(stop_words))
        spelt = [word.encode() for word in (*stop_words, *invented)]
        ends = np.concatenate([[0], np.cumsum([len(word) for word in spelt])])
        return np.frombuffer(b"".join(spelt), np.uint8), ends

    @cached_property
    def _parts_of_words(self) -> Array:
        """Onset and nucleus of each syllable, padded with zeros, (n, 4) bytes."""
        syllables = [onset + nucleus for onset in ONSETS for nucleus in NUCLEI]
        return np.array([list(s.encode().ljust(4, b"\0")) for s in syllables], np.uint8)

    @cached_property
    def _stop_alias(self) -> tuple[Array, Array]:
        return _alias(_zipf(len(english_stop_words()), 2.0))

    @cached_property
    def _word_alias(self) -> tuple[Array, Array]:
        return _alias(_zipf(self.n_words, 10.0))

    @cached_property
    def _popularity(self) -> tuple[Array, Array]:
        return _alias((10.0 + np.arange(self.n_topics)) ** -0.5)

    @cached_property
    def _topics(self) -> tuple[Array, tuple[Array, Array]]:
        """Words of each topic, the likeliest first, (T, n), and the table to draw them with."""
        size = min(self.topic_words, self.n_words // 2)
        topics = np.empty((self.n_topics, size), np.int32)
        rank = 50.0 + np.arange(self.n_words)
        for topic in range(self.n_topics):
            key = (self.seed << 32) + topic + 1
            rng = np.random.Generator(np.random.Philox(key=key))
            # frequent words tend to come first, and to belong to more topics
            arrival = rng.standard_exponential(self.n_words) * rank**0.6
            chosen = np.argpartition(arrival, size - 1)[:size]
            topics[topic] = chosen[np.argsort(arrival[chosen])]
        return topics, _alias(_zipf(size, 5.0))


def _zipf(size: int, offset: float) -> Array:
    weights = (offset + np.arange(size)) ** -1.05
    return np.asarray(weights / weights.sum())


def _invented(n_words: int, taken: set[str]) -> list[str]:
    """Spell distinct pronounceable words; the first ones, which are frequent, are short.

    A word is syllables of onset and nucleus, with a coda at the end. Consonants between two vowels
    are one onset, so different syllables make different words.
    """
    syllables = [onset + nucleus for onset in ONSETS for nucleus in NUCLEI]
    words: list[str] = []
    for length in range(1, MOST_SYLLABLES):
        # half of the words that are possible, no more, so that not every string is a word
        possible = len(syllables) ** length * len(CODAS)
        step = int(possible * 0.381966) | 1
        while np.gcd(step, possible) > 1:
            step += 2
        for n in range(possible // 2):
            number, spelt = n * step % possible, []
            for _ in range(length):
                number, syllable = divmod(number, len(syllables))
                spelt.append(syllables[syllable])
            word = "".join(spelt) + CODAS[number]
            if word not in taken:
                words.append(word)
            if len(words) == n_words:
                return words
            if length == 2 and len(words) >= 40_000:
                break  # rare words are long
    raise ValueError(f"no more than {len(words)} words can be spelt")


def _alias(weights: Array) -> tuple[Array, Array]:
    """Make a table to draw from a distribution by one uniform number (Walker, 1977; Vose, 1991)."""
    chance = weights / weights.sum() * len(weights)
    other = np.arange(len(weights), dtype=np.int32)
    small = [n for n, value in enumerate(chance) if value < 1.0]
    large = [n for n, value in enumerate(chance) if value >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        chance[high] -= 1.0 - chance[low]
        if chance[high] < 1.0:
            small.append(large.pop())
    chance[small + large] = 1.0  # what is left is 1 up to rounding
    return chance, other


# ---- compiled ----


@part()
def _draw(stream, alias):
    """Draw a number from a table of ``_alias``."""
    chance, other = alias
    place = uniform(stream) * len(chance)
    number = np.int64(place)
    return number if place - number < chance[number] else np.int64(other[number])


@part()
def _open(stream, seed, document, popularity, topics, shares):
    """Begin a document: draw its bytes, its topics and their cumulative shares."""
    open_stream(stream, seed, TEXT, 0, document)
    size = SHORTEST * (LONGEST / SHORTEST) ** uniform(stream)
    n_topics = 1 + np.int64(uniform(stream) * MOST_TOPICS)
    total = 0.0
    for n in range(n_topics):
        topics[n] = _draw(stream, popularity)
        total -= np.log(uniform(stream))
        shares[n] = total
    for n in range(n_topics):
        shares[n] /= total
    return size, n_topics


def _room(*arguments):
    return np.empty(2, np.uint64), np.empty(MOST_TOPICS, np.int64), np.empty(MOST_TOPICS)


@kernel(_room)
def describe(seed, first, popularity, out, stream, topics, shares):
    """Add the shares of its topics to the row of each document."""
    for document in range(len(out)):
        _, n_topics = _open(stream, seed, first + document, popularity, topics, shares)
        before = 0.0
        for n in range(n_topics):
            out[document, topics[n]] += shares[n] - before
            before = shares[n]


@part()
def _spell_rare(stream, syllables, out, at):
    """Write a word of four syllables that hardly occurs again; one in eight has an accent."""
    for _ in range(MOST_SYLLABLES):
        syllable = np.int64(uniform(stream) * len(syllables))
        for letter in syllables[syllable]:
            if letter:
                out[at] = letter
                at += 1
    if uniform(stream) < 0.125:
        out[at] = 0xC3
        out[at + 1] = 0xA9
        at += 2
    return at


@kernel(_room)
def write(
    seed, first, letters, spelling, stop_alias, word_alias, popularity, topic_words, topic_alias,
    syllables, out, ends, stream, topics, shares,
):  # fmt: skip
    """Write documents one after the other; return the number of bytes."""
    n_stop = len(stop_alias[0])
    at = 0
    for document in range(len(ends)):
        size, n_topics = _open(stream, seed, first + document, popularity, topics, shares)
        stop = at + np.int64(size)
        begins = True
        while at < stop:
            start = at
            kind = uniform(stream)
            if STOP <= kind < STOP + RARE:
                at = _spell_rare(stream, syllables, out, at)
            else:
                if kind < STOP:
                    word = _draw(stream, stop_alias)
                elif kind < STOP + RARE + BACKGROUND:
                    word = n_stop + _draw(stream, word_alias)
                else:
                    choice = uniform(stream)
                    n = 0
                    while n + 1 < n_topics and shares[n] < choice:
                        n += 1
                    word = n_stop + topic_words[topics[n], _draw(stream, topic_alias)]
                for n in range(spelling[word], spelling[word + 1]):
                    out[at] = letters[n]
                    at += 1
            if begins:
                out[start] -= 32  # a capital letter
            mark = uniform(stream)
            begins = mark < SENTENCE
            if begins:
                out[at] = 46
                at += 1
            elif mark < SENTENCE + COMMA:
                out[at] = 44
                at += 1
            out[at] = 32
            at += 1
        out[at - 1] = 10
        ends[document] = at
    return at
