from .sentences import in_japanese as in_japanese
from .sentences import known_sentences as known_sentences
