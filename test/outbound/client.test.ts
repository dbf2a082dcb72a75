/** Calls to other services: what is sent, which addresses are refused, and the limits of time and size of an answer. */
import { describe, expect, test } from "vitest";
import { createOutbound, type OutboundOptions } from "../../app/outbound/outbound-client.ts";
import type { OutboundRequest } from "../../core/plans/outbound-port.ts";
import { startHookServer } from "./hook-server.ts";
import { openForTests } from "../contract/harness.ts";

const server = openForTests(startHookServer);

const timeoutMs = 400;
const call = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: "POST",
  url,
  headers: { "X-Request-Id": "r1" },
  body: null,
  timeoutMs,
  ...more,
});
const own = () => new Response("own", { status: 207 });
const outbound = (options: Partial<OutboundOptions> = {}) =>
  createOutbound({ allowedHosts: [server.host, `hooks.test:${server.port}`], own, ...options });

describe("a call", () => {
  test("goes out with its method, path, headers and body", async () => {
    const body = '{"a":"ü"}';
    const headers = { "Content-Type": "application/json", "X-Own": "v" };
    const request = call(`http://${server.host}/a%20b?c=%2F`, { method: "PUT", headers, body });
    expect(await outbound().send(request)).toMatchObject({ status: 200 });
    expect(server.heard.at(-1)).toMatchObject({
      method: "PUT",
      path: "/a%20b?c=%2F",
      headers: {
        host: server.host,
        "content-type": "application/json",
        "content-length": "10",
        "x-own": "v",
      },
      body,
    });
  });

  test.each([200, 204, 301, 302, 307, 404, 500, 503])("tells the status %i", async (status) => {
    const request = call(`http://${server.host}/status/${status}`);
    expect(await outbound().send(request)).toMatchObject({ status });
  });

  test("reaches the address that the name was looked up to, with the name in its Host header", async () => {
    const resolve = async () => ["127.0.0.1"];
    await outbound({ resolve }).send(call(`http://hooks.test:${server.port}/named`));
    expect(server.heard.at(-1)?.headers["host"]).toBe(`hooks.test:${server.port}`);
  });

  test("goes on to the next address when one does not listen", async () => {
    const resolve = async () => ["::1", "127.0.0.1"];
    const request = call(`http://hooks.test:${server.port}/second`);
    expect(await outbound({ resolve }).send(request)).toMatchObject({ status: 200 });
  });

  test("follows no redirect", async () => {
    const before = server.heard.length;
    const request = call(`http://${server.host}/redirect?to=/secret`);
    expect(await outbound().send(request)).toMatchObject({ status: 302 });
    expect(server.heard.length).toBe(before + 1);
  });

  test("to a path is answered by the service itself", async () => {
    const seen: Request[] = [];
    const { send } = outbound({
      own(request) {
        seen.push(request);
        return own();
      },
    });
    expect(await send(call("/api/a/b/c?d=1", { body: "{}" }))).toMatchObject({ status: 207 });
    expect(seen[0]?.url).toBe("http://localhost/api/a/b/c?d=1");
    expect(await seen[0]?.text()).toBe("{}");
    expect(seen[0]?.headers.get("x-request-id")).toBe("r1");
  });

  test("to a path that is not answered ends in time", async () => {
    const request = call("/api/a/b/c");
    await expect(outbound({ own: () => new Promise(() => {}) }).send(request)).rejects.toThrow();
  });
});

describe("a call is refused", () => {
  const privately = createOutbound({ allowedHosts: [], own });
  test.each([
    ["a loopback address", "http://127.0.0.1:PORT/"],
    ["a decimal address", "http://2130706433:PORT/"],
    ["a hexadecimal address", "http://0x7f.1:PORT/"],
    ["an octal address", "http://0177.0.0.1:PORT/"],
    ["a short address", "http://127.1:PORT/"],
    ["the unspecified address", "http://0.0.0.0:PORT/"],
    ["zero", "http://0:PORT/"],
    ["full-width digits", "http://１２７.0.0.1:PORT/"],
    ["the loopback of IPv6", "http://[::1]:PORT/"],
    ["an IPv4-mapped address", "http://[::ffff:127.0.0.1]:PORT/"],
    ["an IPv4-mapped address in hexadecimal", "http://[::ffff:7f00:1]:PORT/"],
    ["an address behind NAT64", "http://[64:ff9b::7f00:1]:PORT/"],
    ["localhost", "http://localhost:PORT/"],
    ["localhost with a point", "http://localhost.:PORT/"],
    ["a private network", "http://10.0.0.1/"],
    ["the metadata of a cloud", "http://169.254.169.254/latest/meta-data/"],
    ["a host behind a user name", "http://hooks.example@127.0.0.1:PORT/"],
    ["another scheme", "ftp://127.0.0.1:PORT/"],
    ["a file", "file:///etc/passwd"],
  ])("%s", async (_, url) => {
    const before = server.heard.length;
    const request = call(url.replace("PORT", String(server.port)));
    await expect(privately.send(request)).rejects.toThrow();
    expect(server.heard.length).toBe(before);
  });

  test.each([
    ["127.0.0.1", ["127.0.0.1"]],
    ["an IPv4-mapped one", ["::ffff:127.0.0.1"]],
    ["a link-local one", ["169.254.169.254"]],
    ["none", []],
  ])("for a name that stands for %s", async (_, addresses) => {
    const { send } = createOutbound({ allowedHosts: [], own, resolve: async () => addresses });
    const before = server.heard.length;
    await expect(send(call(`http://hooks.test:${server.port}/`))).rejects.toThrow();
    expect(server.heard.length).toBe(before);
  });

  test("for a name that stands for another address when it is looked up again", async () => {
    const answers = [["127.0.0.1"], ["1.1.1.1"]];
    let lookups = 0;
    const resolve = async () => answers[lookups++] ?? [];
    const { send } = createOutbound({ allowedHosts: [], own, resolve });
    await expect(send(call(`http://hooks.test:${server.port}/`))).rejects.toThrow();
    expect(lookups).toBe(1);
  });

  test("for another port or name than the allowed one", async () => {
    const { send } = createOutbound({ allowedHosts: [`127.0.0.1:1`, "localhost:2"], own });
    for (const host of ["127.0.0.1", "localhost"])
      await expect(send(call(`http://${host}:${server.port}/`))).rejects.toThrow();
  });

  test("when it allows the name in other letters it is not refused", async () => {
    const { send } = createOutbound({ allowedHosts: [`LocalHost:${server.port}`], own });
    expect(await send(call(`http://localhost:${server.port}/`))).toMatchObject({ status: 200 });
  });
});

describe("a peer cannot hold a call", () => {
  test.each([
    "silent",
    "drip-head",
    "drip-body",
    "huge",
    "long-head",
    "closes",
    "closes-late",
    "garbage",
    "upgrade",
  ])("%s", async (name) => {
    const startMs = performance.now();
    await expect(outbound().send(call(`http://${server.host}/${name}`))).rejects.toThrow();
    expect(performance.now() - startMs).toBeLessThan(timeoutMs + 300);
  });

  test("that does not listen", async () => {
    const { send } = createOutbound({ allowedHosts: ["127.0.0.1:1"], own });
    await expect(send(call("http://127.0.0.1:1/"))).rejects.toThrow();
  });

  test("whose name is never looked up", async () => {
    const resolve = () => new Promise<string[]>(() => {});
    const startMs = performance.now();
    await expect(outbound({ resolve }).send(call("http://hooks.test/"))).rejects.toThrow();
    expect(performance.now() - startMs).toBeLessThan(timeoutMs + 300);
  });

  test("that speaks no TLS", async () => {
    await expect(outbound().send(call(`https://${server.host}/`))).rejects.toThrow();
  });

  test("and leaves no socket behind", async () => {
    await outbound().send(call(`http://${server.host}/kept-open`));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(server.sockets()).toBe(0);
  });
});
