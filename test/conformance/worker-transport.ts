/**
 * Answers of the gateway in workerd, as it is deployed: our exporter publishes the scenario's
 * cluster to it, and its upstreams are asked over HTTPS.
 * @module
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { WIRE_TYPE } from '../../src/gateway/doh/negotiate.ts'
import { sendTo } from '../gateway/doh/replies.ts'
import { startGateway } from '../workerd.ts'
import { clustersOf, gatewayVariables, publish, whyNotCaseAtGateway } from './published-clusters.ts'
import type { Case, Scenario } from './scenario.ts'
import type { Place, Transport } from './transports.ts'
import { answerRecorded, type RecordedAnswers, recordedAnswers } from './upstream.ts'

/** In the answers that name the machine. */
const HOSTNAME = `"${hostname()}"`

/** Returns why the gateway in workerd answers a case otherwise on purpose; else `undefined`. */
export function whyNotCaseInWorker(recorded: Case): string | undefined {
  if (recorded.expect.answer?.some((line) => line.includes(HOSTNAME))) {
    return 'a Worker has no hostname'
  }
  if (/(^|\.)stale\.test\.$/i.test(recorded.qname)) {
    return 'a Worker refreshes within the request: it asks the upstream before it answers stale'
  }
  return whyNotCaseAtGateway(recorded)
}

/** Starts the gateway, publishes the scenario's cluster, and answers from it. */
export async function openWorker({ scenario, ...place }: Place): Promise<Transport> {
  const published = await clustersOf(scenario)
  const upstreams = createServer(dohUpstreams(scenario)).listen(0, '127.0.0.1')
  await once(upstreams, 'listening')
  const gateway = await startGateway({
    port: 0,
    outboundPort: (upstreams.address() as AddressInfo).port,
    variables: {
      ...scenario.environment,
      ...upstreamVariables(scenario),
      ...gatewayVariables(scenario, published),
      FILES: JSON.stringify({ ...scenario.imports, ...scenario.files }),
    },
  })
  const port = Number(new URL(gateway.url).port)
  await publish(gateway.url, published, { ...place, scenario })
  return {
    ask: async ({ src }: Case, body) => {
      const from = src === undefined ? {} : { 'cf-connecting-ip': src }
      const headers = { 'content-type': WIRE_TYPE, accept: WIRE_TYPE, ...from }
      const got = await sendTo(port, { method: 'POST', path: '/dns-query', body, headers })
      return got.status === 200 ? [got.body] : []
    },
    close: async () => {
      await gateway.stop()
      upstreams.close()
    },
  }
}

/** The upstreams, as a Worker can query them. */
function upstreamVariables({ upstreams }: Scenario): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(upstreams).map((name) => [name, `https://${hostOf(name)}/dns-query`]),
  )
}

function hostOf(variable: string): string {
  return `${variable.toLowerCase().replaceAll('_', '-')}.test`
}

/** Answers for all upstreams of a scenario, by the host that a request names. */
function dohUpstreams({ upstreams }: Scenario): RequestListener {
  const byHost = new Map<string, RecordedAnswers>()
  for (const [variable, fixtures] of Object.entries(upstreams)) {
    if (fixtures !== null) byHost.set(hostOf(variable), recordedAnswers(fixtures))
  }
  return async (request, response) => {
    const known = byHost.get(request.headers.host ?? '')
    const reply = known && answerRecorded(known, await buffer(request), 65_535)
    if (reply === undefined) response.writeHead(502).end()
    else response.writeHead(200, { 'content-type': WIRE_TYPE }).end(reply)
  }
}
