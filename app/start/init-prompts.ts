/** Answers of prompts, of which Ctrl+C is none. */
import { isCancel } from "@clack/prompts";

/** The user ended the dialog. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Rejects with Cancelled when the prompt was left with Ctrl+C. */
export async function answered<Answer>(prompt: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await prompt;
  if (isCancel(answer)) throw new Cancelled();
  return answer as Exclude<Answer, symbol>;
}
