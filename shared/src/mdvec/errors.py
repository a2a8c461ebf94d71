"""The root of every error that mdvec raises for its user.

Each class stands in the module that raises it and builds a message of one or two
sentences: what is wrong, and what to do. The edges (command line, MCP server)
translate ``MdvecError`` once; anything else is a bug.

    MdvecError
    ├── SettingsError               mdvec.settings
    ├── InvalidToolName             mdvec.tools.names
    ├── InvalidChunking             mdvec.text.chunking
    ├── DatabaseError               mdvec.database.connection
    │   ├── DatabaseMissing
    │   └── DatabaseUnusable
    ├── ToolNotFound                mdvec.tools.rows
    ├── ToolExists                  mdvec.tools.rows
    ├── SourceMissing               mdvec.files.scan
    ├── SnapshotsUnwritable         mdvec.datasets.interfaces.snapshots
    ├── ModelError                  mdvec.embedding.embedder
    │   ├── ModelUnavailable
    │   ├── UnembeddableText
    │   └── BadEmbedding
    ├── ImportRefused               mdvec.importing
    │   └── ToolChanged
    ├── ImportInterrupted           mdvec.importing
    ├── SearchRefused               mdvec.searching
    ├── ReadingRefused              mdvec.reading
    ├── NotTransactions             mdvec.household.core.moneyforward
    ├── InvalidPeriod, AmbiguousPeriod      mdvec.household.core.periods
    ├── UnknownCategory, AmbiguousCategory  mdvec.household.core.categories
    ├── EmptyLedger, InsufficientData, InvalidPage, InvalidPageSize
    │                               mdvec.household.core.wording
    ├── DuplicateDetectionError     mdvec.household.core.pairs
    ├── ExportError                 mdvec.analysis.errors
    │   ├── NotAHandle
    │   ├── ExportMissing
    │   ├── ExportExceedsTotal
    │   └── ExportFolderUnusable
    ├── AnalysisError               mdvec.analysis
    │   ├── LibraryMissing
    │   ├── TooManyRows, OutputTooLarge
    │   └── NotJson, UnsupportedFrame, UnknownColumns
    ├── ChartError                  mdvec_mcp.charts.chart
    │   └── FontUnusable
    ├── UnfittingGraph              mdvec_mcp.household.pictures
    ├── ChartServerUnavailable      mdvec_mcp.charts.server
    ├── QueryError                  mdvec_mcp.analytics.core.refusals
    │   ├── QueryRefused
    │   │   ├── UnknownTable
    │   │   └── BadTableName
    │   ├── QueryFailed
    │   ├── QueryStopped
    │   ├── TooManyRows
    │   ├── ExportTooLarge
    │   └── QueriesUnavailable
    └── DuplicateResolutionError    mdvec.duplicate_review
        ├── CheckNotFound
        ├── TransactionNotFound
        ├── InvalidDecision
        └── InvalidLimit
"""


class MdvecError(Exception):
    """Something the user can act on; ``str(error)`` is the sentence to show."""
