import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'

const OBJECTS = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Pod
  metadata: {name: a, namespace: shop, labels: {app: web, example.org/tier: gold}}
  status: {podIP: 198.51.100.7}
`
const LABELS = 'port-name protocol endpoint zone service namespace kind parse-error'.split(' ')

/** What a name's metadata is: labels and their values, those without one left out. */
async function metadataOf(name: string, ...options: readonly string[]): Promise<string[]> {
  const placeholders = LABELS.map((label) => `${label}={/kubernetes/${label}}`).join(' ')
  const server = serve(
    block(
      'metadata',
      `log . "${placeholders}"`,
      directive('kubernetes cluster.local in-addr.arpa', ...options),
    ),
    { cluster: { objects: OBJECTS } },
  )
  await server.ask(`${name} A`)
  return (server.host.lines[0] ?? '').split(' ').filter((pair) => !/=-?$/.test(pair))
}

describe('metadata of clusters', () => {
  const cases: { name: string; options?: string[]; labels: string[] }[] = [
    { name: 'cluster.local', labels: [] },
    { name: 'svc.cluster.local', labels: [] },
    { name: 'shop.svc.cluster.local', labels: ['namespace=shop', 'kind=svc'] },
    {
      name: 'WEB.shop.svc.cluster.local',
      labels: ['service=web', 'namespace=shop', 'kind=svc'],
    },
    {
      name: '1-2-3-4.shop.pod.cluster.local',
      labels: ['service=1-2-3-4', 'namespace=shop', 'kind=pod'],
    },
    {
      name: 'e.web.shop.svc.cluster.local',
      labels: ['endpoint=e', 'service=web', 'namespace=shop', 'kind=svc'],
    },
    {
      name: '_http._tcp.web.shop.svc.cluster.local',
      labels: ['port-name=http', 'protocol=tcp', 'service=web', 'namespace=shop', 'kind=svc'],
    },
    { name: 'web.shop.cluster.local', labels: ['parse-error=invalid', 'query', 'name'] },
    { name: 'a.b.c.web.shop.svc.cluster.local', labels: ['parse-error=invalid', 'query', 'name'] },
    { name: '1.2.3.4.in-addr.arpa', labels: ['parse-error=invalid', 'query', 'name'] },
    {
      name: 'a.b.pin._zone.web.shop.svc.cluster.local',
      options: ['zonal'],
      labels: ['zone=a.b', 'service=web', 'namespace=shop', 'kind=svc'],
    },
    {
      name: 'a.far._zone.web.shop.svc.cluster.local',
      options: ['zonal'],
      labels: ['parse-error=invalid', 'query', 'name'],
    },
    { name: 'example.org', labels: [] },
  ]
  for (const { name, options = [], labels } of cases) {
    test(`says ${labels.join(' ') || 'nothing'} of ${name}`, async () => {
      assert.deepEqual(await metadataOf(name, ...options), labels)
    })
  }

  const said: { label: string; value: string }[] = [
    { label: 'client-namespace', value: 'shop' },
    { label: 'client-pod-name', value: 'a' },
    { label: 'client-label/app', value: 'web' },
    { label: 'client-label/example.org/tier', value: 'gold' },
    { label: 'client-label/no', value: '-' },
    { label: 'client-else', value: '-' },
  ]
  for (const { label, value } of said) {
    test(`says ${value} for ${label} of a Pod, and nothing for other clients`, async () => {
      const kubernetes = (pods: string): string => directive('kubernetes cluster.local', pods)
      const lines = await Promise.all(
        ['pods verified', 'pods insecure'].map(async (pods) => {
          const corefile = block('metadata', `log . "{/kubernetes/${label}}"`, kubernetes(pods))
          const server = serve(corefile, { cluster: { objects: OBJECTS } })
          await server.ask('cluster.local SOA +from=198.51.100.7')
          await server.ask('cluster.local SOA +from=198.51.100.8')
          return server.host.lines
        }),
      )
      assert.deepEqual(lines, [
        [value, '-'],
        ['-', '-'],
      ])
    })
  }

  const clients: { name: string; from: string; isShop: boolean }[] = [
    { name: 'returns the namespace of a Pod', from: '198.51.100.7', isShop: true },
    { name: 'knows nothing of others', from: '198.51.100.8', isShop: false },
  ]
  for (const { name, from, isShop } of clients) {
    test(`${name}, for view`, async () => {
      const condition = "expr metadata('kubernetes/client-namespace') == 'shop'"
      const server = serve(
        block(
          'metadata',
          directive('view shop', condition),
          directive('kubernetes cluster.local', 'pods verified'),
        ),
        { cluster: { objects: OBJECTS } },
      )
      const [head] = await server.ask(`cluster.local SOA +from=${from}`)
      assert.equal(head, isShop ? 'NOERROR aa rd' : 'REFUSED rd')
    })
  }
})
