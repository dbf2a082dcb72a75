/**
 * Every limit of the service that is not a setting, with its unit. Settings are in `core/config/reading/schema.ts` and
 * `app/start/settings/env.ts`.
 */
export const limits = {
  /** Nesting of a request's JSON, or of the names in a form. */
  jsonDepthMax: 32,
  /** Values of one form: some 1500 columns of a grid. */
  formPairsMax: 10_000,
  /** Nesting of groups in a `where`. */
  whereDepthMax: 5,
  whereConditionsMax: 100,
  /** Values of one IN. */
  inValuesMax: 1000,
  /** Related records that one statement joins: MariaDB takes 61 tables in all, SQLite 64. */
  joinedRelationsMax: 40,
  /** Relations that one request expands, the nested ones among them. */
  expandRelationsMax: 10,
  /** Levels of nested relations. */
  expandDepthMax: 2,
  /** Records of one list of an expanded relation. */
  expandLimitDefault: 100,
  expandLimitMax: 1000,
  /** Records of all such lists of an answer. */
  expandRowsMax: 20_000,
  /** Characters appended to a reusable value while its row is deleted: `~` and 10 hexadecimal digits. */
  markSuffixLength: 11,
  /** Keys of several columns in one condition, a chain of ANDs and ORs: SQLite plans longer ones more slowly per key. */
  keyTuplesMax: 128,
  /** Documents above a line, whose totals follow one another. */
  totalsLevelsMax: 100,
  /** Changes of records that one statement records. */
  changesAtOnce: 200,
  /** Characters and bytes in a statement that stores rows: at most 12 MiB, and servers take 16 MiB by default. */
  statementLengthMax: 4 * 1024 ** 2,
  /** Texts of counters of document numbers whose equal forms a process remembers. */
  numberFormsMax: 10_000,
  /** Requests that record changes between two removals of old ones. */
  changesSweepEvery: 100,
  /** Keys of one event of changes; of more records, none are named. */
  eventKeysMax: 100,
  /** Between two looks for changes of other processes. */
  feedPauseMs: 1_000,
  /** Pauses of a delivery between its tries, in seconds: 12 tries within 25 hours. */
  deliveryPauseSeconds: [1, 3, 9, 27, 81, 243, 729, 2_187, 6_561, 19_683, 59_049],
  /** Between two looks for deliveries of other processes, and for those whose pause is over. */
  deliveryLookMs: 1_000,
  /** Beside the timeout of a delivery, until another process takes it over. */
  deliveryLeaseMs: 5_000,
  /** Deliveries of a webhook that one process sends at the same time. */
  deliveriesAtOnceMax: 20,
  /** Deliveries that are due, of one look. */
  deliveriesLookedAt: 200,
  /** Between two comments on a stream, so that proxies keep it open. */
  streamBeatMs: 15_000,
  /** Events that wait for a client which does not read. */
  streamBehindMax: 1_000,
  /** How long a ticket for a stream is valid. */
  ticketMs: 60_000,
  /** Events that `changes` answers at most. */
  eventsMax: 1_000,
  eventsDefault: 100,
  perPageMax: 100,
  perPageDefault: 10,
  /** Characters of a cursor: a row whose sorted values do not fit into it cannot be gone on from. */
  cursorLengthMax: 65_536,
  /** Rows before a page from which on it is worth asking whether the end of the list is nearer than its beginning. */
  deepOffsetMin: 1000,
  limitMax: 5000,
  limitDefault: 1000,
  /** Characters of a number's text; longer ones would cost time and no column holds them. */
  decimalLengthMax: 20_000,
  /** Power of ten of a number with an exponent: 1e400000000 must not become 400 MB of zeros. */
  decimalExponentMax: 1_000,
  /** Characters of a text that a pattern or format is tried on; what is longer fails the test unseen. */
  testedTextLengthMax: 10_000,
  gridLengthMax: 1000,
  gridLengthDefault: 10,
  /** Columns that a grid may send. */
  gridColumnsMax: 1000,
  /** Those of them that are no fields, but null in each row; and the characters of such a name. */
  gridMissingColumnsMax: 100,
  gridMissingNameLengthMax: 100,
  /** Searches of single columns and fixed searches of one grid's request. */
  gridTermsMax: 100,
  /** Criteria of one searchBuilder, its groups included; nesting of the groups. */
  gridCriteriaMax: 100,
  gridCriteriaDepthMax: 5,
  /** Values that are selected in all panes, or in all lists of columns, of one grid; values offered of one field. */
  gridSelectedMax: 1000,
  gridOptionsMax: 1000,
  /** Maximum difference between the clocks of an issuer of tokens and of the service. */
  tokenSkewSeconds: 30,
  /** A token that was checked is not checked again for this long, and how many of them are remembered. */
  tokenKeptMs: 60_000,
  tokensKeptMax: 1_000,
  /**
   * Keys of an issuer of tokens are fetched again after this time, but never twice within the pause. One fetch takes no
   * longer than the last.
   */
  keySetFreshMs: 600_000,
  keySetPauseMs: 30_000,
  keySetTimeoutMs: 3_000,
  /** Rate limits: callers that one process counts. */
  rateCountersMax: 100_000,
  /** How long accepted credentials stay usable despite refusals from their address; how many a process remembers. */
  credentialsKnownMs: 600_000,
  credentialsKnownMax: 10_000,
  /** Of a shared connection: quick statements at once; how long the first has run when another joins; waits for locks. */
  sharedStatementsMax: 4,
  sharedWaitMs: 10,
  sharedLockMs: 100,
  /** Statements that take longer on average are not quick. */
  quickStatementMs: 10,
  /**
   * Limits of a statement on the thread that answers requests, or runs jobs (SQLite): rows visited, and average time.
   * All others run in separate processes, at most this many per database.
   */
  heldUpMax: { requests: { visits: 50_000, ms: 50 }, jobs: { visits: 5_000_000, ms: 2_000 } },
  longReadsMax: 4,
  /** Lines of the log are written together: as soon as there is this much, or so long after they were made. */
  logBatchBytes: 4 * 1024,
  logFlushMs: 100,
  /** Lines that wait because the output is not read. */
  logWaitingBytesMax: 16 * 1024 ** 2,
  /** Parsed request paths that a process caches, and the longest of them. */
  pathsKept: 1_000,
  keptPathLengthMax: 200,
  /** Sets of roles whose rights one project caches. */
  roleSetsMax: 1_000,
  /** Characters of a lookup's search. */
  lookupSearchLengthMax: 100,
  /** Characters of a LIKE pattern or a search text. */
  patternLengthMax: 10_000,
  /** Rows of an answer of aggregate. */
  aggregateLimitMax: 10_000,
  aggregateOperationsMax: 100,
  /** Groups of a page. */
  groupsPerPageMax: 1_000,
  /** Digits after the decimal point of a record's quotient, and of an average of formulas. */
  figureQuotientDigits: 10,
  /** Digits before and after the decimal point of the width of a bin. */
  binDigitsMax: 15,
  binFractionMax: 10,
  /** Buckets and formulas of requests whose columns are cached. */
  derivedColumnsMax: 1_000,
  /** Years between the first and the last value of a time: beyond, only those that have values are looked at. */
  zoneYearsMax: 200,
  aggregateGroupsMax: 32,
  aggregateJoinsMax: 10,
  /** Tiles of a dashboard. */
  tilesMax: 50,
  /** Characters of the id of a step of a batch. */
  batchIdLengthMax: 100,
  /** Characters of JSON that the references in one step of a batch stand for, all together. */
  batchReferredLengthMax: 1024 ** 2,
  /** Pause before a batch begins again because a record is locked by another request. */
  batchPauseMs: 50,
  /** Characters of an adjustment's reason that the history keeps: MySQL's type `text` has 65,535 bytes. */
  reasonLengthMax: 10_000,
  /** Items of one `adjustments`. */
  adjustmentsMax: 100,
  /** Details that one composite may write, all its lists together. */
  detailsMax: 10_000,
  /** Characters of a formula. */
  formulaLengthMax: 500,
  /** Numbers and columns of a formula after its divisions are gathered into one. Without divisions there are fewer. */
  formulaTermsMax: 1_000,
  /** Digits after the decimal point of a quotient whose column does not set their number. */
  quotientDigitsMax: 12,
  /** Characters of one cached answer; longer ones are not cached. */
  cacheEntryLengthMax: 8 * 1024 ** 2,
  /** Bytes of the cache in memory. */
  cacheMemoryBytesMax: 64 * 1024 ** 2,
  /** After a failure, the cache is not used for this long. */
  cacheRestMs: 1_000,
  /** After a failure, the cache is reported as available again when it has not failed for this long. */
  cacheSteadyMs: 3_000,
  /** One call of the cache's server. */
  cacheTimeoutMs: 500,
  /** Keys of one lock/acquire, lock/release or lock/status. */
  lockKeysMax: 100,
  /** Lifetime of a lock if the request does not set one. */
  lockTtlSecondsDefault: 30,
  /** Characters of the owner that a lock names. */
  lockOwnerLengthMax: 200,
  /** Names in one call of the store of the locks. */
  lockNamesMax: 500,
  /** Waiting for a lock ends this long before the request does, so that there is time for the rest of it. */
  lockReserveMs: 1_000,
  /**
   * Locks of lock/acquire that are kept in memory for a project, and as many for running requests. When there are more,
   * no lock is granted.
   */
  lockMemoryMax: 100_000,
  /** Those of lock/acquire that one caller may hold in a project at the same time. */
  lockCallerMax: 10_000,
  /**
   * After a restart of the locks' server, no lock is granted for this long: instances restore the locks that they
   * granted.
   */
  lockSettleMs: 3_000,
  /** Characters of an Idempotency-Key. */
  idempotencyKeyLengthMax: 255,
  /** Answers of requests with such a key are kept this long. */
  idempotencyKeptMs: 86_400_000,
  /** A request that has not ended after this time is considered dead: longer than `requestDeadlineMs`. */
  idempotencyClaimMs: 20_000,
  /** Releasing the key of a failed request, beyond the request's own time. */
  idempotencyReleaseMs: 1_000,
  /**
   * When one process has stored this many answers of one action, it looks for old ones; and how many of those it then
   * removes.
   */
  idempotencySweepEvery: 50,
  idempotencySweepMax: 100,
  /** Characters of one job's request, as JSON. */
  jobRequestLengthMax: 262_144,
  /** Jobs of a project that may wait at the same time, and those of one caller among them. */
  jobsWaitingMax: 1_000,
  jobsWaitingCallerMax: 200,
  /** At a limit, a process checks this often in the jobs' server which of its jobs have started. */
  jobsWaitingLookMs: 1_000,
  /** Jobs that one process runs at the same time. */
  jobsAtOnce: 2,
  /** Runs of a job that fails for reasons that may pass, the first included. */
  jobTriesMax: 6,
  /** A run that failed after a longer time is not tried again. */
  jobRetryWithinMs: 120_000,
  /** Wait before the second run; doubled for each further one. */
  jobRetryDelayMs: 1_000,
  /** Times that a job is taken over from a worker that died or hangs; after that it has failed. */
  jobTakeOversMax: 3,
  /** A worker that does not report for this long has lost its job. */
  jobLockMs: 10_000,
  /** Commits of other processes that the cache in memory remembers to have heard of. */
  jobsHeardMax: 1_000,
  /** How often the service checks for jobs of lost workers. */
  jobLookMs: 5_000,
  /** One call of the jobs' server. */
  jobTimeoutMs: 800,
  /** Pause between two reports of one job's progress. */
  jobProgressPauseMs: 300,
  /** SIGTERM: jobs may take this long to finish; then they stop, and another process begins them again. */
  jobDrainMs: 3_000,
  /** A thread without a job for this long ends, and frees its connections. */
  jobThreadIdleMs: 30_000,
  /**
   * Young objects of that thread, in megabytes, where V8 would use 64 and more. With 24, an import takes a twelfth
   * longer, and an export as long, with 10 to 30 MB less.
   */
  jobThreadYoungMb: 48,
  /** Of a thread that reads rows. */
  rowsThreadYoungMb: 24,
  /** All other objects of that thread. If a job needs more, it has failed; the process goes on. */
  jobThreadHeapMb: 256,
  /** Connections of a project for jobs, in addition to those of requests. */
  jobConnectionsMax: 4,
  /** How often the service checks for expired files. */
  fileLookMs: 60_000,
  /** Half-written files of processes that died are removed after this time. */
  fileAbandonedMs: 3_600_000,
  /** However slow the database is, a request is answered within this time. */
  requestDeadlineMs: 15_000,
  /** Connections of one request to a database, where each request has its own: the runtime allows six in all. */
  requestConnectionsMax: 3,
  /** Work of such a runtime after its answer: the runtime allows 30 seconds. */
  afterAnswerMs: 25_000,
  /** Waiting for a free connection. */
  acquireTimeoutMs: 5_000,
  /** Opening a connection. */
  connectTimeoutMs: 5_000,
  /** Callers that may wait for a connection at the same time. */
  acquireQueueMax: 10_000,
  /** Tries of a transaction that the database gave up (deadlock, serialization failure), the first included. */
  transactionTriesMax: 4,
  /** The same of a batch: it locks many rows in the order of its steps, so it meets others more often. */
  batchTriesMax: 12,
  /** Transactions of one upsert whose records others store at the same time. */
  upsertTriesMax: 20,
  /** Texts of statements that are cached as printed, and prepared per connection. */
  statementShapesMax: 500,
  /** Depth of hooks that call an action of this service which has hooks, and so on. */
  hookDepthMax: 3,
  /** Bytes of a hook's answer: only its status is used, and a longer answer does not come from a hook. */
  hookAnswerBytesMax: 64 * 1024,
  /** The part of a request's deadline that a blocking hook leaves for the database. */
  hookReserveMs: 1_000,
  /** Tries of a non-blocking hook call, the first included: 17 to 34 minutes. */
  hookTriesMax: 12,
  /** The same, for a call that could not be put into the queue: it ends with the process. */
  hookOwnTriesMax: 5,
  /** Pause before the second try; it doubles each time. */
  hookRetryFirstMs: 1_000,
  /** Non-blocking hook calls that one process makes at the same time. */
  hookCallsAtOnceMax: 20,
  /** Non-blocking hook calls of one project that wait in the memory of the process. */
  hookCallsWaitingMax: 1_000,
  /** Non-blocking hook calls that one process keeps in files. */
  hookCallsKeptMax: 10_000,
  /** Failed calls are stored this long, and at most this many. */
  hookDeadKeptSeconds: 30 * 86_400,
  hookDeadKeptMax: 10_000,
  /** How often a queue in files checks for calls that an operator sends again. */
  hookRetryLookMs: 10_000,
  /** Bytes of a workbook that is read, as it is stored. */
  workbookBytesMax: 100 * 1024 ** 2,
  /** Parts of a workbook: sheets, pictures and the like. */
  workbookPartsMax: 5_000,
  /** Bytes of one part of a workbook, unpacked; its sheet and its shared texts have separate limits. */
  workbookPartBytesMax: 32 * 1024 ** 2,
  workbookSheetBytesMax: 1024 ** 3,
  /** The shared texts are kept in memory while the rows are read. */
  workbookTextsBytesMax: 64 * 1024 ** 2,
  /** Unpacked bytes per packed byte, in parts of more than 32 MiB; sheets full of equal rows reach about 60. */
  workbookInflateRatioMax: 200,
  /** Time for looking through an uploaded workbook. */
  uploadReadMs: 60_000,
  /** Objects of a thread that reads an upload, in megabytes. Other memory of the reader has separate limits. */
  uploadThreadHeapMb: 512,
  /** Workbooks that one process inspects at the same time. */
  uploadsAtOnce: 2,
  /** Bytes of one part's headers in a multipart body, of one of its texts, and of the text around its parts. */
  multipartHeaderBytesMax: 16_384,
  /** Texts on either side of the file in a multipart body. */
  multipartTextsMax: 50,
  /** Characters of a cell, as the preview and the errors of an import show it. */
  shownCellLengthMax: 1_000,
  /** Characters of all the rows that a preview, or the errors of an import, show. */
  shownRowsLengthMax: 4 * 1024 ** 2,
  /** Rows with errors that import-status lists; import-errors has them all. */
  importErrorsMax: 1_000,
  /** Names that a template offers in a list; a lookup with more has none. */
  importChoicesMax: 100,
  /** Rows in which import-errors marks the wrong cells; of a longer file, only the last column tells the errors. */
  importMarkedRowsMax: 1_000,
  /** Time for the handlers of one row of an import, as for those of a request; then its commit is given up. */
  importHandlersMs: 15_000,
  /** Runs of rows with one outcome that import-status lists of a preview. */
  importOutcomesMax: 10_000,
  /** Names, looked up for keys, that an import caches. */
  importNamesMax: 100_000,
  /** UTF-16 units of one row of a csv file that is read. */
  csvRowLengthMax: 4 * 1024 ** 2,
  /** Rows of a sheet that is read, its headings not counted. */
  workbookRowsMax: 1_048_575,
  workbookColumnsMax: 1_024,
  /** Cells of a sheet that is read, empty ones before a row's last value included. */
  workbookCellsMax: 25_000_000,
  /** A document is built in slices of about this time, so that requests need not wait for all of it. */
  documentSliceMs: 15,
  /** Tables and named joins of an endpoint's aggregate that its schema names one by one. */
  joinsDescribedMax: 10,
  /** Bytes of all OpenAPI documents that a process caches, compressed if possible; one per set of rights. */
  documentsKeptLengthMax: 32 * 1024 ** 2,
  /** `rowgate init`: rows of a table that are read to find a label. */
  initRowsSeen: 2_000,
  /** The same to find columns that hold empty texts: others in the row may be long. */
  initTextsSeen: 100,
  /** Connections of clients at the same time, unless MAX_CONNECTIONS says so. */
  connectionsMax: 10_000,
  /**
   * An idle connection is kept for this long: longer than the 60 seconds of many load balancers, which could otherwise
   * use one that has just been closed.
   */
  keepAliveMs: 65_000,
  /** Pause between two lines of the log about connections that were refused. */
  refusedLogMs: 60_000,
  /**
   * A client that sends its request very slowly must not hold a socket for ever: limits for the headers, and then for
   * the body.
   */
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  /**
   * The rest of a body that is no longer needed is still read, so that the client can see its answer: for this long,
   * and this many bytes.
   */
  unreadBodyMs: 2_000,
  unreadBodyBytesMax: 64 * 1024 ** 2,
  /** Log: a failure that requests share is logged again after so long without it; and how many of them are known. */
  failureRepeatedMs: 60_000,
  failuresKnownMax: 100,
  /** Traces: spans that wait to be sent; further ones are dropped. */
  tracedSpansMax: 4_096,
  /** Traces: pause before a span is sent, and time for sending a batch, unless OTEL_* variables set them. */
  traceDelayMs: 5_000,
  traceExportMs: 10_000,
  /** Traces: added to the time for a batch, in which its end is awaited. */
  traceGraceMs: 1_000,
  traceExportsAtOnceMax: 30,
  /** Characters of a statement's text that the log shows. */
  loggedSqlLengthMax: 4_000,
  /** SIGTERM: for this long, open connections accept one more request, and the answer announces that they close. */
  farewellMs: 1_000,
  /** SIGTERM: running requests may take this long to finish. */
  drainTimeoutMs: 8_000,
} as const;
