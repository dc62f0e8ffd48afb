import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test, vi } from 'vitest'
import { sendJson, startHttpApi } from '../../cluster/follow/http-api.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startShopGateway } from '../operated-gateway.ts'
import { runCli } from '../run-cli.ts'

/** Secrets, planted where a bundle could pick them up. */
const PLANTED = {
  corefile: 'planted-in-the-corefile',
  password: 'planted-password',
  environment: 'planted-in-the-environment',
  kubeconfig: 'planted-in-the-kubeconfig',
  url: 'planted-in-the-url',
  user: 'planted-user',
}
const COREFILE = `. {
  tsig {
    secret key.test. ${PLANTED.corefile}
  }
  etcd example.org {
    credentials me ${PLANTED.password}
  }
  # {$PLANTED_TOKEN}
  forward . https://${PLANTED.user}:x@a.test/dns-query?token=${PLANTED.url}
}
`
const GATEWAY = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'

/** Starts an API server whose pod logs every secret. @returns its kubeconfig */
async function startCluster(t: TestContext): Promise<string> {
  const log = `query of web.shop\n${Object.values(PLANTED).join('\n')}\nBearer abcdefgh\n`
  const url = await startHttpApi(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1')
    if (pathname === '/version') sendJson(response, { gitVersion: 'v1.34.4' })
    else if (pathname.endsWith('/services/kube-dns')) {
      sendJson(response, { spec: { clusterIP: '127.0.0.1', selector: { app: 'dns' } } })
    } else if (pathname.endsWith('/log')) {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(log)
    } else if (pathname.endsWith('/pods')) {
      const spec = { serviceAccountName: 'dns', containers: [{ image: 'kubedoh:0.1.0' }] }
      sendJson(response, { items: [{ metadata: { name: 'dns-1' }, spec, status: {} }] })
    } else if (pathname.endsWith('reviews')) sendJson(response, { status: { allowed: true } })
    else sendJson(response, { items: [] })
  })
  const kubeconfig = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: PLANTED.kubeconfig } }],
  }
  return join(temporaryFolder(t, { kubeconfig: JSON.stringify(kubeconfig) }), 'kubeconfig')
}

test('a bundle has what helps, and none of the planted secrets', async (t) => {
  vi.stubEnv('PLANTED_TOKEN', PLANTED.environment)
  t.onTestFinished(() => void vi.unstubAllEnvs())
  const folder = temporaryFolder(t, { Corefile: COREFILE })
  const bundle = join(folder, 'bundle.json')
  const gateway = await startShopGateway(t, GATEWAY, new Date().toISOString())
  const kubeconfig = await startCluster(t)
  const args = [
    ...['doctor', '--json', '--bundle', bundle, '--conf', join(folder, 'Corefile')],
    ...['--gateway', `${gateway}/?token=${PLANTED.url}`, '--kubeconfig', kubeconfig],
  ]
  const { stdout } = await runCli(args, { KUBEDOH_ADMIN_TOKEN: ADMIN })
  const text = readFileSync(bundle, 'utf8')
  for (const secret of [...Object.values(PLANTED), ADMIN, 'abcdefgh']) {
    assert.ok(!text.includes(secret), `${secret} is in ${text}`)
  }
  assert.equal(statSync(bundle).mode & 0o777, 0o600)
  const { versions, findings, corefile, gateway: state, cluster } = JSON.parse(text)
  assert.equal(versions.kubedoh, '0.1.0')
  assert.deepEqual(JSON.parse(stdout).findings.length, findings.length)
  const texts = findings.map(({ text: found }: { text: string }) => found)
  assert.ok(texts.some((found: string) => /v1\.34\.4; see docs\/install\/README\.md$/.test(found)))
  assert.match(corefile, /tsig \{\n {4}secret \[redacted\]\n/)
  assert.equal(state.ready.status, 200)
  assert.equal(state.status.body.clusters[0].generation, 7)
  assert.match(state.metrics.body, /^kubedoh_snapshot_age_seconds/m)
  assert.equal(cluster.version, 'v1.34.4', JSON.stringify(cluster))
  assert.deepEqual(cluster.pods[0].images, ['kubedoh:0.1.0'])
  assert.match(cluster.logs['dns-1'], /^query of web\.shop\n\[redacted\]/)
  assert.deepEqual(cluster.rights[0].kinds.services, { list: true, watch: true })
})

test('a bundle of nothing says what to pass, and replaces no file', async (t) => {
  const path = join(temporaryFolder(t, { taken: 'x' }), 'bundle.json')
  assert.equal((await runCli(['doctor', '--bundle', path])).status, 0)
  const { corefile, gateway, cluster } = JSON.parse(readFileSync(path, 'utf8'))
  assert.deepEqual(
    [corefile, gateway, cluster],
    ['pass --conf', 'pass --gateway', 'pass --kubeconfig'],
  )
  const again = await runCli(['doctor', '--bundle', path])
  assert.deepEqual(
    [again.status, again.stderr.startsWith(`kubedoh: Cannot write ${path}: `)],
    [1, true],
  )
})
