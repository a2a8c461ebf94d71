"""The root of all errors that mdvec raises for its users.

Each error is a class in the module that raises it. Its message, of one or two sentences, says what
is wrong and what to do. The command line and the MCP server each translate ``MdvecError`` in one
place; any other exception is a bug.

    MdvecError
        AnalysisError                 mdvec.analysis.errors
            ChartRefused              mdvec.analysis.errors
            LibraryMissing            mdvec.analysis.errors
            NotJson                   mdvec.analysis.errors
            OutputTooLarge            mdvec.analysis.errors
            TooManyRows               mdvec.analysis.errors
            UnknownColumns            mdvec.analysis.errors
            UnsupportedFrame          mdvec.analysis.errors
        ExportError                   mdvec.analysis.errors
            ExportExceedsTotal        mdvec.analysis.errors
            ExportFolderUnusable      mdvec.analysis.errors
            ExportMissing             mdvec.analysis.errors
            NotAHandle                mdvec.analysis.errors
        ChartError                    mdvec.charts.chart
            FontUnusable              mdvec.charts.fonts
        PlotRefused                   mdvec.charts.plots
        DatabaseError                 mdvec.database.connection
            DatabaseEmptied           mdvec.database.connection
            DatabaseMissing           mdvec.database.connection
            DatabaseUnusable          mdvec.database.connection
            NoRoom                    mdvec.manage.compacting
        SnapshotsUnwritable           mdvec.datasets.interfaces.snapshots
        InvalidTableChoice            mdvec.datasets.options
        InvalidReading                mdvec.datasets.reading_options
        ReadingRefused                mdvec.documents.reading
        ModelError                    mdvec.embedding.embedder
            UnknownModel              mdvec.embedding.catalog
            BadEmbedding              mdvec.embedding.embedder
            ModelUnavailable          mdvec.embedding.embedder
                EndpointFailure       mdvec.embedding.endpoint
                    EndpointRefused   mdvec.embedding.endpoint
                        TextRefused   mdvec.embedding.endpoint
                    EndpointUnusable  mdvec.embedding.endpoint
                    KeyMissing        mdvec.embedding.endpoint
                    QuestionNotAllowed mdvec.embedding.endpoint
                Lacking               mdvec.embedding.onnx_models
            UnembeddableText          mdvec.embedding.embedder
            RerankerTooSlow           mdvec.embedding.reranker
            ModelDiffers              mdvec.search.question_vectors
        SourceMissing                 mdvec.files.scanning
        InvalidAlias                  mdvec.household.aliases
        InvalidBudget                 mdvec.household.budgeting
        InvalidMovements              mdvec.household.comparison
        NotComparable                 mdvec.household.comparison
        UnknownLevel                  mdvec.household.comparison
        UnknownCategory               mdvec.household.core.categories
            AmbiguousCategory         mdvec.household.core.categories
        InvalidRowFilter              mdvec.household.core.found
        UnknownAccount                mdvec.household.core.found
        InvalidMapping                mdvec.household.core.mapping
        NotTransactions               mdvec.household.core.moneyforward
        DuplicateDetectionError       mdvec.household.core.pair
        AmbiguousBase                 mdvec.household.core.periods
        AmbiguousPeriod               mdvec.household.core.periods
        InvalidPeriod                 mdvec.household.core.periods
            InvalidDates              mdvec.household.core.periods
        NotMappable                   mdvec.household.core.proposal
        EmptyLedger                   mdvec.household.core.wording
        InsufficientData              mdvec.household.core.wording
        InvalidPage                   mdvec.household.core.wording
        InvalidPageSize               mdvec.household.core.wording
        NotOneMonth                   mdvec.household.habits
        NoAssets                      mdvec.household.net_worth_report
        InvalidNote                   mdvec.household.notes
        DuplicateResolutionError      mdvec.household.review
            InvalidDecision           mdvec.household.deciding
            KeepInTransfer            mdvec.household.deciding
            RowNotInCandidate         mdvec.household.deciding
            CheckNotFound             mdvec.household.review
            InvalidLimit              mdvec.household.review
            InvalidReviewPage         mdvec.household.review
            TransactionNotFound       mdvec.household.review
            NotOfTwoHouseholds        mdvec.household.sharing
        InvalidRule                   mdvec.household.rules
        MappingRefused                mdvec.household.statement_preview
        EndpointStopped               mdvec.importing.endpoint_texts
        ImportRefused                 mdvec.importing.options
            SendingRefused            mdvec.importing.endpoint_texts
            ToolChanged               mdvec.importing.report
        ImportInterrupted             mdvec.importing.report
        OtherWriter                   mdvec.index.chroma_collections
        EngineUnavailable             mdvec.index.nearest
            CollectionMissing         mdvec.index.chroma
            ExtraMissing              mdvec.index.chroma
        BackupRefused                 mdvec.manage.backup
        FileNotUnderstood             mdvec.manage.clients.registration
        NotRegistered                 mdvec.manage.clients.registration
        ServerFailed                  mdvec.manage.doctor.server
        FolderRefused                 mdvec.manage.folders
        OutsideHome                   mdvec.manage.folders
        SamplesNotWritten             mdvec.manage.folders
        NoHousehold                   mdvec.manage.household_mapping
        OpeningFileUnwritable         mdvec.manage.page_server
        PageKeyUnusable               mdvec.manage.page_server
        PageUnavailable               mdvec.manage.page_server
        TokenUnusable                 mdvec.manage.page_server
        InvalidTool                   mdvec.manage.registering
            FolderServed              mdvec.manage.registering
        InstructionsUnusable          mdvec.manage.rules
        OnlyTried                     mdvec.manage.service
        ServerNotInstalled            mdvec.manage.service
        ServiceError                  mdvec.manage.service
        SavedQueryError               mdvec.queries.saved
        WrongParameters               mdvec.queries.saved
        SearchRefused                 mdvec.search.answer
        InvalidFilter                 mdvec.search.core.filters
        SettingsError                 mdvec.settings.places
            FlagRefused               mdvec.settings.loading
        NoHistogram                   mdvec.sql.core.histogram
        RowsDiffer                    mdvec.sql.core.histogram
        PeriodRefused                 mdvec.sql.core.period
        UnknownColumn                 mdvec.sql.core.period
        QueryError                    mdvec.sql.core.refusals
            QueriesUnavailable        mdvec.sql.core.refusals
            QueryFailed               mdvec.sql.core.refusals
            QueryRefused              mdvec.sql.core.refusals
                UnknownTable          mdvec.sql.core.refusals
            QueryStopped              mdvec.sql.core.refusals
            ResultTooLarge            mdvec.sql.core.refusals
            TooManyRowsToExport       mdvec.sql.core.refusals
        NotAnswered                   mdvec.sql.guarded
        InvalidChunking               mdvec.text.options
        InvalidToolName               mdvec.tools.names
        ToolExists                    mdvec.tools.registry
        ToolNotFound                  mdvec.tools.registry
        WatchRefused                  mdvec_cli.commands.watch
        NotDrawn                      mdvec_mcp.analytics.query_tool
        ChartServerUnavailable        mdvec_mcp.charts.server
        UnfittingGraph                mdvec_mcp.household.pictures
        AddressUnusable               mdvec_mcp.web.gate
        TokenNeeded                   mdvec_mcp.web.gate
        BadAmount                     mdvec_mcp.web.page.plan_view
        NothingToChange               mdvec_mcp.web.page.rows_view
        TooManyAtOnce                 mdvec_mcp.web.page.rows_view
"""

from typing import ClassVar


class MdvecError(Exception):
    """Something the user can act on; ``str(error)`` is the message to show.

    ``is_wrong_usage`` says that the command line itself is wrong, whatever the files hold; `mdvec`
    then exits with 2 rather than 1.
    """

    is_wrong_usage: ClassVar[bool] = False
