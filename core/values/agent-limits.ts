/** Limits of what agents ask for and get: their answers become part of a prompt. */
export const agentLimits = {
  /** Records of one answer, and of one bulk request. */
  recordsMax: 100,
  /** Bytes of the body of one answer, in which its content stands twice: as text, and as data. */
  answerBytesMax: 100_000,
  /** Of these bytes: for what the protocol adds. */
  frameBytes: 1_000,
  /** Records of a page, if the agent asks for no number. */
  recordsDefault: 20,
  /** Names that the schema of a tool lists in one place; where there are more, `describe` has them. */
  namesListedMax: 100,
} as const;
