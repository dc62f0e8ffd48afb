/** Recorded answers by `kubedoh gateway`: the gateway on Node, over HTTP. */

import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { WIRE_TYPE } from '../../src/gateway/doh/negotiate.ts'
import { createMemoryGatewayStore } from '../../src/gateway/snapshots/store.ts'
import { createNodeGateway } from '../../src/server/gateway/node-gateway.ts'
import { CONFIG_FILES } from '../../src/server/node/load-corefile.ts'
import { sendTo } from '../gateway/doh/replies.ts'
import {
  clustersOf,
  gatewayVariables,
  publish,
  whyNotAt,
  whyNotCaseAtGateway,
} from './published-clusters.ts'
import { testRecordedAnswers } from './recorded-answers.ts'
import type { Place, Transport } from './transports.ts'

async function openNodeGateway(place: Place): Promise<Transport> {
  const { scenario, files } = place
  const published = await clustersOf(scenario)
  const config = await readGatewayConfig(gatewayVariables(scenario, published), {
    file: place.corefile,
    source: CONFIG_FILES,
  })
  const log = (): void => undefined
  const options = {
    config,
    store: createMemoryGatewayStore(),
    corefileFolder: files,
    tls: undefined,
    log,
  }
  const gateway = await createNodeGateway(options)
  const port = await gateway.listen(undefined, 0)
  await publish(`http://127.0.0.1:${port}`, published, place)
  return {
    ask: async ({ src }, body) => {
      const headers = { 'content-type': WIRE_TYPE, accept: WIRE_TYPE }
      const host = src?.includes(':') ? '::1' : '127.0.0.1'
      const from = src === undefined ? {} : { host, localAddress: src }
      const got = await sendTo(port, { method: 'POST', path: '/dns-query', body, headers, ...from })
      return got.status === 200 ? [got.body] : []
    },
    close: () => gateway.close(),
  }
}

testRecordedAnswers({
  name: 'the gateway on Node',
  open: openNodeGateway,
  isDoh: true,
  whyNot: whyNotAt('gateway'),
  whyNotCase: whyNotCaseAtGateway,
})
