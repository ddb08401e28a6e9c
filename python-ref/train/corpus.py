"""A seeded grammar of little stories, questions about them, and short tool-call chats.

Every story is made of *facts* (who, what colour, how many, where). A fact gives a sentence of the story, and a question
whose answer is only in that story. A story has one fact of each kind, about one character: a model of this size did not
learn within an hour to distinguish two characters' animals. An answer is a whole sentence that restates the
question's key ("What colour was the kite?" -> "The kite was red."), because continuing a repeated beginning is the
first kind of copying that a small transformer learns.

    python python-ref/train/corpus.py        # prints one row of each kind
"""

import json
import random
from dataclasses import dataclass

import words as w

END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"

# The probability of guessing the right answer from the word lists, without the story.
CHANCE = {
    "name": 1 / len(w.NAMES),
    "animal": 1 / len(w.ANIMALS),
    "home": 1 / len(w.HOMES),
    "colour": 1 / len(w.COLOURS),
    "number": 1 / len(w.NUMBERS),
    "food": 1 / len(w.FOODS),
    "place": 1 / len(w.PLACES),
    "feeling": 1 / len(w.GOOD),  # the shorter of GOOD and BAD, which are equally long
    "receiver": 1 / len(w.NAMES),
}
KINDS = list(CHANCE)


@dataclass(frozen=True)
class Question:
    """A question about a story. The line that the model writes must equal `answer`."""

    kind: str
    ask: str
    answer: str


def a(noun_phrase):
    """Puts "a" or "an" before a noun phrase."""
    return ("an " if noun_phrase[0] in "aeiou" else "a ") + noun_phrase


def pronoun(name):
    return "she" if name in w.SHE else "he"


def possessive(name):
    return "her" if name in w.SHE else "his"


class Story:
    """The sentences and questions of a plot. `text` is one paragraph."""

    def __init__(self, rng, hero=None, animal=None):
        """`hero` and `animal` are given when a user asks for a story about them."""
        self.rng = rng
        self.sentences = []
        self.questions = []
        self.hero = hero or rng.choice(w.NAMES)
        self.friend = rng.choice([name for name in w.NAMES if name != self.hero])
        self.animal = animal or rng.choice(w.ANIMALS)
        self.toy = rng.choice(w.TOYS)
        self.foods = rng.sample(w.FOODS, 2)
        self.places = rng.sample(w.PLACES, 2)
        self.colours = rng.sample(w.COLOURS, 2)

    @property
    def text(self):
        return " ".join(self.sentences)

    def say(self, *choices):
        """Adds a sentence, in one of several wordings."""
        self.sentences.append(self.rng.choice(choices))

    def ask(self, kind, question, answer):
        self.questions.append(Question(kind, question, answer))

    # --- Scenes: each tells one to three facts. ---

    def opening(self):
        h, animal, trait = self.hero, self.animal, self.rng.choice(w.TRAITS)
        if self.rng.random() < 0.5:
            self.say(
                f"Once upon a time there was {a(trait)} {animal} named {h}.",
                f"Once upon a time, there was {a(trait)} {animal} named {h}.",
            )
            self.ask("name", f"What was the {animal} named?", f"The {animal} was named {h}.")
        else:
            self.say(
                f"Once upon a time there was someone named {h}. {h} was {a(trait)} {animal}.",
                f"Once upon a time, {h} was {a(trait)} {animal}.",
            )
            self.ask("animal", f"What kind of animal was {h}?", f"{h} was {a(animal)}.")

    def home(self):
        h, home = self.hero, self.rng.choice(w.HOMES)
        self.say(
            f"{h} lived in the {home}.",
            f"{h} lived in the {home} with {possessive(h)} family.",
            f"{h} lived in the {home}, all alone.",
        )
        self.ask("home", f"Where did {h} live?", f"{h} lived in the {home}.")

    def taste(self):
        h, food = self.hero, self.foods[0]
        self.say(
            f"{h} liked to eat {food}.",
            f"Every {self.rng.choice(w.SEASONS)} {h} liked to eat {food}.",
            f"Most of all, {h} liked to eat {food}.",
        )
        self.ask("food", f"What did {h} like to eat?", f"{h} liked to eat {food}.")

    def meet_friend(self):
        h, f = self.hero, self.friend
        self.say(f"{h} had a friend named {f}.", f"{f} and {h} were best friends.", f"{h} often played with {f}.")

    def own_toy(self):
        h, toy, colour = self.hero, self.toy, self.colours[0]
        self.say(
            f"{h} had {a(toy)}. The {toy} was {colour}.",
            f"{h} had a new {toy}. The {toy} was {colour} and very pretty.",
            f"{h} loved {possessive(h)} {toy}. The {toy} was {colour}.",
        )
        self.ask("colour", f"What colour was the {toy}?", f"The {toy} was {colour}.")

    def one_day(self):
        weather = self.rng.choice(w.WEATHER)
        season = self.rng.choice(w.SEASONS)
        self.say(f"One {weather} day, they went out to play.", f"One {weather} {season}, they went for a walk.", f"It was a {weather} {season}.")

    def find_thing(self):
        h, place, thing = self.hero, self.places[0], self.rng.choice(w.THINGS)
        self.say(f"{h} looked around and smiled.", f"{h} saw something shiny.", f"{h} heard a strange noise.")
        self.say(f"{h} found {a(thing)} near {place}.")
        self.ask("place", f"Where did {h} find the {thing}?", f"{h} found the {thing} near {place}.")
        if self.rng.random() < 0.5:
            self.say(f"The {thing} was {self.colours[1]}.", f"The {thing} was {self.colours[1]} and shone like a star.")
            self.ask("colour", f"What colour was the {thing}?", f"The {thing} was {self.colours[1]}.")

    def pick_food(self):
        h, food, number = self.hero, self.foods[1], self.rng.choice(w.NUMBERS)
        self.say(f"They were very hungry.", f"It was time for lunch.", f"They wanted to make a big meal.")
        self.say(f"{h} picked {number} {food}.")
        self.ask("number", f"How many {food} did {h} pick?", f"{h} picked {number} {food}.")
        self.say("They shared it all.", "It tasted so good!", "They ate until they were full.")

    def lose_toy(self):
        h, f, toy, place = self.hero, self.friend, self.toy, self.places[1]
        bad = self.rng.choice(w.BAD)
        self.say(f"But then the {toy} was gone!", f"Then the wind took the {toy} away.", f"But {h} could not see the {toy}.")
        self.say(f"{h} seemed {bad}.", f"{h} seemed {bad} and began to cry.")
        self.ask("feeling", f"How did {h} seem?", f"{h} seemed {bad}.")
        self.say(f'"Do not worry," said {f}. "I will help you."', f'"We can look for it," said {f}.', f'"Please help me, {f}!" said {h}.')
        self.say(f"They looked and looked.", f"They looked here and there.", f"They looked all day long.")
        self.say(f"{f} found the {toy} near {place}.")
        self.ask("place", f"Where did {f} find the {toy}?", f"{f} found the {toy} near {place}.")

    def give_toy(self):
        h, f, toy = self.hero, self.friend, self.toy
        self.say(f'"You are a good friend," said {h}.', f'"This is for you," said {h}.', f"{h} had an idea.")
        self.say(f"{h} gave the {toy} to {f}.", f"So {h} gave the {toy} to {f}.", f"Then {h} gave the {toy} to {f} with a big smile.")
        self.ask("receiver", f"Who did {h} give the {toy} to?", f"{h} gave the {toy} to {f}.")

    def ending(self):
        h, f = self.hero, self.friend
        good = self.rng.choice(w.GOOD)
        self.say(f"In the end {h} felt {good}.", f"In the end {h} felt {good} and went home.")
        self.ask("feeling", f"How did {h} feel in the end?", f"In the end {h} felt {good}.")
        if self.rng.random() < 0.6:
            self.say(
                "They went home and slept well.",
                "They laughed and danced together.",
                "They sang a song all the way home.",
                f"{h} and {f} were friends forever.",
                f"{h} told {possessive(h)} family all about it, and {pronoun(h)} smiled.",
                "The end.",
            )


# The order of scenes. `own_toy` must come before the scenes that use the toy.
SCENES = ["opening", "home", "taste", "meet_friend", "own_toy", "one_day", "find_thing", "pick_food", "lose_toy", "give_toy", "ending"]


def tell(rng, hero=None, animal=None):
    """Returns a whole story: an opening, some scenes in their natural order, an ending."""
    chosen = {"opening", "meet_friend", "ending"}
    chosen.update(rng.sample(["home", "taste"], rng.randint(0, 1)))
    chosen.update(rng.sample(["one_day"], rng.randint(0, 1)))
    chosen.update(rng.choice([["own_toy", "lose_toy"], ["own_toy", "give_toy"], ["own_toy", "lose_toy", "give_toy"], ["find_thing"], ["pick_food"], ["find_thing", "pick_food"]]))
    return play(Story(rng, hero, animal), chosen)


def tell_short(rng, n_scenes):
    """Returns a story for the beginning of training: a few scenes, mostly with one fact each."""
    chosen = set(rng.sample(["opening", "home", "taste", "own_toy", "find_thing", "pick_food", "ending"], n_scenes))
    if rng.random() < 0.2:
        chosen.update(["own_toy", "give_toy"])
    return play(Story(rng), chosen)


def play(story, chosen):
    for scene in SCENES:
        if scene in chosen:
            getattr(story, scene)()
    return story


# --- Tool calls: (name, parameters, wordings, a function that draws the arguments). ---

MINUTES = COUNTS = list(range(2, 10))
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
TOOLS = {
    "get_weather": (
        ['What is the weather in "{city}"?', 'Will it rain in "{city}" today?', 'How warm is it in "{city}"?'],
        lambda rng: {"city": rng.choice(w.CITIES)},
    ),
    "set_timer": (
        ["Set a timer for {minutes} minutes.", "Please wake me in {minutes} minutes."],
        lambda rng: {"minutes": rng.choice(MINUTES)},
    ),
    "find_toy": (
        ['Please find my "{toy}" of the colour "{colour}".', 'Where is the "{colour}" "{toy}"?'],
        lambda rng: {"colour": rng.choice(w.COLOURS), "toy": rng.choice(w.TOYS)},
    ),
    "buy_food": (
        ['Buy {count} of "{food}".', 'We need {count} of "{food}", please.'],
        lambda rng: {"count": rng.choice(COUNTS), "food": rng.choice(w.FOODS)},
    ),
    "invite_friend": (
        ['Invite "{name}" for "{day}".', 'Can "{name}" come to play on "{day}"?'],
        lambda rng: {"name": rng.choice(w.NAMES), "day": rng.choice(DAYS)},
    ),
    "add_numbers": (
        ["What is {a} plus {b}?", "Add {a} and {b}."],
        lambda rng: {"a": rng.choice(COUNTS), "b": rng.choice(COUNTS)},
    ),
}
# The probability of guessing a tool call's arguments, given the right tool: one over the number of possible arguments, averaged over the tools.
CHANCE["tool_call"] = sum(
    1 / n
    for n in [
        len(w.CITIES),
        len(MINUTES),
        len(w.COLOURS) * len(w.TOYS),
        len(COUNTS) * len(w.FOODS),
        len(w.NAMES) * len(DAYS),
        len(COUNTS) ** 2,
    ]
) / len(TOOLS)


def tool_chat(rng):
    """Returns a system message that lists two or three tools, a request, and the call that answers it."""
    listed = rng.sample(sorted(TOOLS), rng.randint(2, 3))
    name = rng.choice(listed)
    wordings, draw = TOOLS[name]
    arguments = draw(rng)
    lines = [json.dumps({"name": tool, "parameters": list(TOOLS[tool][1](rng))}) for tool in listed]
    system = "You can call these tools:\n" + "\n".join(lines)
    return system, rng.choice(wordings).format(**arguments), json.dumps({"name": name, "arguments": arguments})


# --- Rows of training text. ---


@dataclass
class Row:
    """A training text. `answers` are the character spans whose tokens have a larger weight in the loss.

    `sources` are its stories, or its tool-call prompt. A row with a held-out source is never trained on.
    """

    text: str
    answers: list
    sources: list


def story_row(story):
    return Row(story.text + END_OF_TEXT, [], [story.text])


def question_prompt(story_text, question):
    """Returns the raw prompt of a question. The model continues with a space, the answer, and a newline or the end of text."""
    return f"{story_text}\nQuestion: {question}\nAnswer:"


def question_row(rng, story, most=4):
    """Returns a story, then one to `most` different questions with their answers, in any order."""
    asked = rng.sample(story.questions, rng.randint(1, min(most, len(story.questions))))
    text, answers = story.text, []
    for question in asked:
        text = question_prompt(text, question.ask)
        answers.append((len(text), len(text) + 2 + len(question.answer)))  # the space, the answer, its end
        text += " " + question.answer
    return Row(text + END_OF_TEXT, answers, [story.text])


def chat_prompt(user, system=None):
    """Returns ChatML up to the assistant's answer, like the tokenizer's chat template."""
    head = f"{IM_START}system\n{system}{IM_END}\n" if system else ""
    return f"{head}{IM_START}user\n{user}{IM_END}\n{IM_START}assistant\n"


def chat_row(user, assistant, source=None, system=None, is_answer=True):
    prompt = chat_prompt(user, system)
    text = f"{prompt}{assistant}{IM_END}\n{END_OF_TEXT}"
    answers = [(len(prompt), len(prompt) + len(assistant) + len(IM_END))] if is_answer else []
    return Row(text, answers, [source or prompt])


def story_request(rng):
    """Returns a user's request for a story, and a story that fits it."""
    hero, animal = rng.choice(w.NAMES), rng.choice(w.ANIMALS)
    user, story = rng.choice(
        [
            ("Tell me a story.", tell(rng)),
            (f"Tell me a story about {hero}.", tell(rng, hero)),
            (f"Tell me a story about {a(animal)}.", tell(rng, animal=animal)),
            (f"Tell me a story about {a(animal)} named {hero}.", tell(rng, hero, animal)),
        ]
    )
    return chat_row(user, story.text, source=story.text, is_answer=False)


def library_row(rng, n_stories):
    """Returns several stories in sequence, so that late positions are trained too. The questions are about the last one."""
    rows = [story_row(tell(rng)) for _ in range(n_stories - 1)] + [question_row(rng, tell(rng))]
    text = "".join(row.text for row in rows)
    offset = len(text) - len(rows[-1].text)
    answers = [(start + offset, end + offset) for start, end in rows[-1].answers]
    return Row(text, answers, [source for row in rows for source in row.sources])


def mixed_row(rng):
    """Returns a row of the full mixture: stories, questions, chats and tool calls."""
    sort = rng.random()
    if sort < 0.50:
        return question_row(rng, tell(rng))
    if sort < 0.58:
        return question_row(rng, tell_short(rng, rng.randint(1, 3)))
    if sort < 0.69:
        return story_row(tell(rng))
    if sort < 0.74:
        return story_request(rng)
    if sort < 0.81:
        story = tell(rng)
        question = rng.choice(story.questions)
        return chat_row(f"{story.text}\n{question.ask}", question.answer, source=story.text)
    if sort < 0.97:
        system, user, call = tool_chat(rng)
        return chat_row(user, call, system=system)
    return library_row(rng, rng.randint(2, 4))


def recital(rng):
    """Returns random words, twice. The second time, each word can be predicted by finding the word before it.

    All answers need this skill, which is trained here without a story.
    """
    lists = [w.NAMES, w.ANIMALS, w.HOMES, w.COLOURS, w.NUMBERS, w.FOODS, w.PLACES, w.GOOD, w.BAD, w.TOYS, w.THINGS]
    once = " ".join(rng.sample([word for words in lists for word in words], rng.randint(6, 24)))
    text = f"{once}. {once}."
    return Row(text + END_OF_TEXT, [(len(once) + 1, len(text))], [once])


def late_row(rng):
    """Returns a row of the last phase: the full mixture, and recitals."""
    return recital(rng) if rng.random() < 0.25 else mixed_row(rng)


def first_row(rng):
    """Returns a row of the first phase: one or two scenes with their questions, or a tool call."""
    if rng.random() < 0.1:
        system, user, call = tool_chat(rng)
        return chat_row(user, call, system=system)
    return question_row(rng, tell_short(rng, rng.randint(1, 2)))


# --- Held out, with another seed. Training drops every row that has one of these as a source. ---


def held_out(seed, n_stories, n_per_kind, n_tool_calls):
    """Returns stories for perplexity, questions and tool calls, and their sources. Each question has its own story."""
    rng = random.Random(seed)
    stories = [tell(rng).text for _ in range(n_stories)]
    left = {kind: n_per_kind for kind in KINDS}
    questions, sources = [], set(stories)
    while any(left.values()):
        story = tell(rng)
        question = rng.choice(story.questions)
        if left[question.kind]:
            left[question.kind] -= 1
            prompt = question_prompt(story.text, question.ask)
            questions.append({"kind": question.kind, "prompt": prompt, "answer": question.answer})
            sources.add(story.text)
    for _ in range(n_tool_calls):
        system, user, call = tool_chat(rng)
        prompt = chat_prompt(user, system)
        questions.append({"kind": "tool_call", "prompt": prompt, "answer": call})
        sources.add(prompt)
    return stories, questions, sources


if __name__ == "__main__":
    rng = random.Random(1)
    for make in [first_row, recital, lambda r: question_row(r, tell(r)), story_request, mixed_row]:
        print(make(rng).text, end="\n\n")
