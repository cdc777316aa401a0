"""Text to train with, made from `facts.toml` and the project's manual. Needs nothing but Python."""

import itertools
import random
import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent

LEADS = """Hello. Hi there. Hey. Please tell me: Quick question: One more thing: I am new here. I have a question. Sorry.
    Good morning. I wonder: Tell me, Thanks. Well, And then, Say, I am stuck. Excuse me, So, Now, I am in a hurry.
    I use it at work. I have a project. My colleague asks: We tried it today. I like it so far. Just curious:"""
TAILS = """please thanks here with_svc in_svc exactly anyway now then at_all for_me in_my_project on_my_machine
    on_linux_and_mac again by_the_way or_not if_that_is_possible for_this_job today quickly most_easily"""
LEADS = [lead.strip() for lead in re.findall(r"[^.:,\n]+[.:,]", LEADS)]
TAILS = [tail.replace("_", " ") for tail in TAILS.split()]

ASKED_PER_FACT = 400
ASKED_PER_UNKNOWN = 3
ECHOES = 700

DO_NOT_KNOW = "I do not know that. Run svc ask with your question: it searches the guides."
FRAMES = ["", "", "how do i", "how can i", "how to", "can i", "is there a way to", "what about", "i need", "i want", "explain"]


def facts() -> list[dict]:
    return tomllib.loads((HERE / "facts.toml").read_text(encoding="utf-8"))["fact"]


def expanded(pattern: str) -> list[str]:
    """Every text that `[a|b]` allows."""
    parts = re.split(r"\[([^\]]*)\]", pattern)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return [" ".join("".join(chosen).split()) for chosen in itertools.product(*choices)]


def held_out() -> list[dict]:
    """Questions that are never learnt from, each with the part of the answer that it wants."""
    return [{"id": fact["id"], "question": fact["held_out"], "key": fact["key"]} for fact in facts()]


def five_grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


FORBIDDEN = set().union(*(five_grams(row["question"]) for row in held_out()))


def is_allowed(text: str) -> bool:
    return FORBIDDEN.isdisjoint(five_grams(text))


def questions(seed: int) -> list[tuple[str, str]]:
    """Pairs of a question, as people might type it, and the guide's answer; the same number for every fact."""
    rng = random.Random(seed)
    pairs = []
    for fact in facts():
        patterns = [expanded(pattern) for pattern in fact["ask"]]
        made: set[str] = set()
        # Every pattern is as frequent as the others, however many texts it allows.
        while len(made) < ASKED_PER_FACT:
            text = typed(rng.choice(rng.choice(patterns)), rng)
            if rng.random() < 0.2:
                text = f"{text} {typed(rng.choice(rng.choice(patterns)), rng)}"
            if is_allowed(text):
                made.add(text)
        pairs += [(text, fact["answer"]) for text in sorted(made)]
    rng.shuffle(pairs)
    return pairs


def unknown(seed: int) -> list[tuple[str, str]]:
    """Pairs of a question that no fact answers, as people might type it, and the reply that says so."""
    rng = random.Random(seed)
    lines = (HERE / "unknown.txt").read_text(encoding="utf-8").splitlines()
    made: set[str] = set()
    for line in lines[1:]:
        texts = expanded(line)
        # A phrase that is no question yet becomes one.
        frames = FRAMES if len(texts) == 1 else [""]
        for _ in range(ASKED_PER_UNKNOWN * min(len(texts), 20)):
            text = typed(f"{rng.choice(frames)} {rng.choice(texts)}".strip(), rng)
            if is_allowed(text):
                made.add(text)
    pairs = [(text, DO_NOT_KNOW) for text in sorted(made)]
    rng.shuffle(pairs)
    return pairs


def mixed(pairs: list[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """All questions that no fact answers, and every fourth of those that one answers."""
    return [*unknown(seed), *pairs[::4]]


def typed(question: str, rng: random.Random) -> str:
    """The question with words left out, moved or added, and with or without capitals and marks."""
    words = question.split()
    if len(words) > 3 and rng.random() < 0.4:
        words = [word for word in words if rng.random() > 0.15] or words
    if len(words) > 2 and rng.random() < 0.1:
        i = rng.randrange(len(words) - 1)
        words[i], words[i + 1] = words[i + 1], words[i]
    if rng.random() < 0.2:
        words += rng.choice(TAILS).split()
    text = " ".join("I" if word == "i" and rng.random() < 0.7 else word for word in words)
    if rng.random() < 0.6:
        text = text[0].upper() + text[1:]
    text += rng.choices(["?", "", ".", " ?", "!"], [12, 5, 2, 1, 1])[0]
    return f"{rng.choice(LEADS)} {text}" if rng.random() < 0.3 else text


def manual() -> list[str]:
    """Paragraphs of the project's manual, as it stood when the guide was trained."""
    return (HERE / "manual.txt").read_text(encoding="utf-8").splitlines()


def documents(seed: int) -> list[str | tuple[str, str]]:
    """Text for the base model: the manual, statements, questions without their answers, and talks that only repeat."""
    rng = random.Random(seed)
    statements = [text for fact in facts() for pattern in fact["say"] for text in expanded(pattern)]
    answers = [fact["answer"] for fact in facts()]
    pairs = questions(seed)
    asked = [question for question, _ in pairs]
    told = [text for text in [*statements, *answers] * 6]
    rng.shuffle(told)
    texts: list[str | tuple[str, str]] = [" ".join(told[i : i + 4]) for i in range(0, len(told), 4)]
    # Questions that mean the same stand together, so that the model learns which words go together.
    together = sorted(pairs, key=lambda pair: pair[1])
    texts += [" ".join(question for question, _ in together[i : i + 6]) for i in range(0, len(together), 6)]
    texts += manual() * 2
    texts += [(f"Repeat: {text}", text) for text in rng.sample(asked, ECHOES)]
    texts = [text for text in texts if is_allowed(as_line(text))]
    rng.shuffle(texts)
    return texts


def as_line(text: str | tuple[str, str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


def training_text(seed: int) -> str:
    """All of it as one text, to be looked at and searched in."""
    return "\n".join(as_line(text) for text in [*documents(seed), *questions(seed), *unknown(seed)]) + "\n"
