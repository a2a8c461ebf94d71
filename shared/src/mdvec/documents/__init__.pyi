from .importer import DOCUMENTS as DOCUMENTS
from .reading import DocumentPart as DocumentPart
from .reading import DocumentText as DocumentText
from .reading import ReadingRefused as ReadingRefused
from .reading import named_document as named_document
from .reading import read_document as read_document
