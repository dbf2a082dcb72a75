/** Opens the service over the shared fixture, or another one. Every answer has passed `checkEnvelope`. */
import { checkEnvelope } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import {
  openFixture,
  openForTests,
  type Answer,
  type Fixture,
  type FixtureOptions,
} from "./harness.ts";

export interface Shop {
  /** Undefined sends no body; a string is sent unchanged, all else as JSON. */
  post(
    endpoint: string,
    action: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Any request; `path` is the part after `/api/test`. */
  send(path: string, init?: RequestInit): Promise<Answer>;
  /** Of this test file, once it runs. */
  readonly fixture: Fixture;
}

export function openShop(options: FixtureOptions = shopOptions): Shop {
  const fixture = openForTests(openFixture, options);
  const checked = async (asking: Promise<Answer>): Promise<Answer> => {
    const answer = await asking;
    checkEnvelope(answer);
    return answer;
  };
  return {
    fixture,
    send: (path, init) => checked(fixture.request(`/api/test${path}`, init)),
    post: (endpoint, action, body, headers) =>
      checked(fixture.post(`${endpoint}/${action}`, body, headers)),
  };
}
