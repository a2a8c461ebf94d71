"""The root of every error that mdvec raises for its user.

Each class stands in the module that raises it and builds a message of one or two
sentences: what is wrong, and what to do. The edges (command line, MCP server)
translate ``MdvecError`` once; anything else is a bug.

    MdvecError
    ├── SettingsError               mdvec.settings
    ├── InvalidToolName             mdvec.core.tool_name
    ├── InvalidChunking             mdvec.core.text.chunking
    ├── DatabaseError               mdvec.interfaces.database.sqlite
    │   ├── DatabaseMissing
    │   └── DatabaseUnusable
    ├── ToolNotFound                mdvec.interfaces.database.tools
    ├── ToolExists                  mdvec.interfaces.database.tools
    ├── SourceMissing               mdvec.interfaces.filesystem.scan
    ├── SnapshotsUnwritable         mdvec.interfaces.filesystem.snapshots
    ├── ModelError                  mdvec.interfaces.embedding.embedder
    │   ├── ModelUnavailable
    │   ├── UnembeddableText
    │   └── BadEmbedding
    ├── ImportRefused               mdvec.importing
    │   └── ToolChanged
    ├── ImportInterrupted           mdvec.importing
    ├── SearchRefused               mdvec.searching
    ├── ReadingRefused              mdvec.reading
    ├── NotTransactions             mdvec.core.household.moneyforward
    ├── InvalidPeriod, AmbiguousPeriod      mdvec.core.household.periods
    ├── UnknownCategory, AmbiguousCategory  mdvec.core.household.categories
    ├── EmptyLedger, InsufficientData, InvalidPage, InvalidPageSize
    │                               mdvec.core.household.wording
    ├── DuplicateDetectionError     mdvec.core.household.duplicates
    ├── ExportError                 mdvec.exports
    │   ├── NotAHandle
    │   ├── ExportMissing
    │   ├── ExportTooLarge
    │   └── ExportFolderUnusable
    ├── AnalysisError               mdvec.analysis
    │   ├── LibraryMissing
    │   ├── TooManyRows, OutputTooLarge
    │   └── NotJson, UnsupportedFrame, UnknownColumns
    ├── ChartError                  mdvec_mcp.core.charts.chart
    │   └── FontUnusable
    ├── UnfittingGraph              mdvec_mcp.interfaces.mcp.household_charts
    ├── ChartServerUnavailable      mdvec_mcp.interfaces.http.chart_server
    ├── QueryError                  mdvec_mcp.core.analytics.refusals
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
