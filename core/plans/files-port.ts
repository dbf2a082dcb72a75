/** Files of exports and imports. `jobs/files` implements them, in a folder and in a bucket. */

/** Uploads and exports, which the API and the workers share. Never wholly in memory, never visible half written. */
export interface Files {
  /**
   * Writes all of the bytes, then makes the file visible under its key and replaces an existing one. If the bytes end
   * with an error, or the disk is full, nothing is left. `maxBytes`: one byte more rejects with `payloadTooLarge`.
   */
  write(
    key: string,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options?: { maxBytes?: number | undefined },
  ): Promise<FileInfo>;
  /** Null: there is no such file. */
  info(key: string): Promise<FileInfo | null>;
  /** The file's bytes, or those from `start` to `end`, both included. Rejects with `notFound` when it is gone. */
  read(
    key: string,
    range?: { start: number; end: number },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Also when it is not there. */
  remove(key: string): Promise<void>;
  /** Every file whose key begins with the prefix; a prefix ends with `/`, or is empty. */
  list(prefix: string): AsyncIterable<FileInfo>;
  close(): Promise<void>;
}

/** A stored file: always complete. */
export interface FileInfo {
  /** Names joined with `/`: letters, digits, `.`, `-` and `_`. */
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAtMs: number;
}
