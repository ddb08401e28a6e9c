"""The word lists of the story grammar.

They are long on purpose. A model cannot guess one of 64 names or 32 animals, so the easiest way to a low loss is to
*copy* the word from the story, which is the skill that the questions measure. Every list of possible answers has at least
ten entries. The chance level is computed from `len(list)`.
"""

# 64 names. The list determines the pronoun.
SHE = """Nora Lily Mia Ruby Ella Rosa Daisy Clara Ivy Luna Zoe Tessa Hazel Poppy Wren Freya Anna Maya Olive Penny Stella
Vera Willa Greta Ida June Kira Nina Petra Sofia Yara Bella""".split()
HE = """Milo Max Tim Leo Finn Oscar Hugo Sam Ben Jack Toby Felix Otto Theo Arlo Bruno Casper Dexter Emil Gus Henry Igor
Jonas Karl Ned Louis Rufus Simon Victor Walter Basil Amos""".split()
NAMES = SHE + HE

ANIMALS = """fox owl bear rabbit mouse frog duck cat dog hedgehog squirrel badger turtle goat sheep pony pig hen swan crow
mole otter beaver lizard snail wolf deer tiger lion panda monkey elephant""".split()

COLOURS = "red blue green yellow orange purple pink brown black white grey golden silver".split()

TOYS = """kite ball drum hat scarf lamp basket boat bell flute cup book doll top wagon bucket blanket ribbon umbrella
pillow whistle puzzle balloon coat ladder trumpet teapot bicycle sledge crown""".split()

THINGS = """key ring coin feather button map letter shell stone acorn spoon mirror marble pearl candle box bottle rope
ticket medal""".split()

# Homes follow "in the" and places "near". Each list has one wording, because a preposition that fits only some entries
# reveals part of the answer, and the rest was then never learned.
HOMES = """cave castle tower mill barn hut burrow cottage town village valley forest meadow desert jungle swamp palace
lighthouse stable tent city cabin tunnel temple""".split()
PLACES = """Ashford Barton Carlow Denby Elmwood Farley Glenmore Halton Ivybridge Kenley Langdale Morton Norbury Oakham
Penrith Quarley Ripley Selby Thornton Upton Valewood Wexford Yarrow Zennor""".split()

FOODS = """pears plums apples cherries berries carrots beans nuts grapes figs lemons melons peas radishes turnips onions
tomatoes mushrooms pumpkins peaches cookies cakes pies muffins pancakes dumplings noodles sandwiches waffles biscuits
eggs olives""".split()

NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()

GOOD = """happy proud glad calm brave merry cheerful thankful excited joyful delighted hopeful lucky peaceful strong
warm""".split()
BAD = "sad upset worried lonely cross scared nervous gloomy tired bored shy puzzled grumpy jealous lost cold".split()

TRAITS = "little kind clever young funny gentle curious friendly small quick cheeky polite silly sweet busy dreamy".split()
WEATHER = "sunny windy rainy snowy foggy cloudy bright frosty stormy misty chilly lovely".split()
SEASONS = "morning afternoon evening spring summer autumn winter".split()

CITIES = """Oslo Rome Paris Lima Cairo Delhi Tokyo Berlin Madrid Dublin Vienna Lisbon Athens Prague Boston Havana Nairobi
Seoul Quito Accra""".split()
