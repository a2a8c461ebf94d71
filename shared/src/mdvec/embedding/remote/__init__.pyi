from .endpoint import RemoteEmbedder as RemoteEmbedder
from .keys import gemini_key as gemini_key
from .keys import openai_key as openai_key
