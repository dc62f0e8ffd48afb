import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { checkDnsService, type DnsService } from '../../../src/cli/doctor/doctor-cluster.ts'
import { sendJson, startHttpApi } from '../../cluster/follow/http-api.ts'

type Api = { readonly spec?: object; readonly endpoints?: readonly object[] }

async function check(t: TestContext, api: Api, server?: string): Promise<DnsService> {
  const url = await startHttpApi(t, (request, response) => {
    const isSlices = request.url?.includes('endpointslices') === true
    if (isSlices) sendJson(response, { items: [{ endpoints: api.endpoints ?? [] }] })
    else if (api.spec === undefined) sendJson(response, { message: 'no kube-dns' }, 404)
    else sendJson(response, { spec: api.spec })
  })
  return checkDnsService({ kind: 'endpoint', url, tls: undefined }, server)
}

describe('checkDnsService', () => {
  const spec = { clusterIP: '10.96.0.10', clusterIPs: ['10.96.0.10'], ipFamilies: ['IPv4'] }
  const ready = { addresses: ['10.244.0.2'] }
  const unready = { addresses: ['10.244.0.3'], conditions: { ready: false } }
  const cases: { name: string; api: Api; server?: string; states: string; text: RegExp }[] = [
    {
      name: 'without the Service',
      api: {},
      states: 'problem',
      text: /no kube-dns/,
    },
    {
      name: 'without ready endpoints',
      api: { spec, endpoints: [unready] },
      states: 'problem note',
      text: /kube-system\/kube-dns \(10\.96\.0\.10\) has no ready endpoint/,
    },
    {
      name: 'with a ready endpoint',
      api: { spec, endpoints: [ready, unready] },
      states: 'ok note',
      text: /points to 10\.244\.0\.2$/,
    },
    {
      name: 'that leads elsewhere',
      api: { spec, endpoints: [ready] },
      server: '10.244.0.9',
      states: 'problem note',
      text: /points to 10\.244\.0\.2, not to 10\.244\.0\.9$/,
    },
    {
      name: 'of both families, at one of its endpoints',
      api: { spec: { ...spec, ipFamilies: ['IPv4', 'IPv6'] }, endpoints: [ready] },
      server: '10.244.0.2',
      states: 'ok ok',
      text: /points to/,
    },
  ]
  for (const { name, api, server, states, text } of cases) {
    test(name, async (t) => {
      const { findings } = await check(t, api, server)
      assert.equal(findings.map(({ state }) => state).join(' '), states)
      assert.match(findings[0]?.text ?? '', text)
      for (const { state, next } of findings) assert.equal(next === undefined, state === 'ok')
    })
  }
})
