/** `/metrics`: the metrics of the service in the exposition format of Prometheus, only for operators. */
import { notFound } from "../../core/values/errors.ts";
import { headersOf } from "./envelope.ts";
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
      headers: { "Content-Type": metricsContentType, ...headersOf(exchange) },
      body: await metricsText(),
    };
  };
}
