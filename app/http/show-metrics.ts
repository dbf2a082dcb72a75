/** `/metrics`: what the service counts, in the exposition format of Prometheus, for operators alone. */
import { notFound } from "../../core/values/errors.ts";
import { secureHeaders } from "./envelope.ts";
import type { Handle } from "./exchange.ts";
import { isOperatorRequest, metricsRefusal, type OperatorSettings } from "./operators.ts";

export interface MetricsDeps extends OperatorSettings {
  /** Gives the text. Null: this runtime keeps no metrics. */
  readonly metricsText: (() => Promise<string>) | null;
}

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export function showMetrics(deps: MetricsDeps): Handle {
  const { metricsText } = deps;
  return async (incoming, exchange) => {
    if (metricsText === null)
      throw notFound("There are no metrics here, because nothing is kept between two requests");
    if (!(await isOperatorRequest(incoming, deps))) throw metricsRefusal(deps);
    return {
      status: 200,
      headers: {
        "Content-Type": metricsContentType,
        "X-Request-Id": exchange.requestId,
        ...secureHeaders,
      },
      body: await metricsText(),
    };
  };
}
