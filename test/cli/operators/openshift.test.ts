import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { isRecord, parseJson, recordOf } from '../../../src/dns/bytes/unknown.ts'
import { openWatch, sendJson, startHttpApi } from '../../cluster/follow/http-api.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { failed, runCli, Screen } from '../run-cli.ts'

describe('openshift', () => {
  test('writes the Corefile, and says so, until a signal ends it', async (t) => {
    const written = new Map<string, unknown>()
    const dns = {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'DNS',
      metadata: { name: 'default' },
      spec: { logLevel: 'Debug' },
    }
    const url = await startHttpApi(t, async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
      if (searchParams.has('watch')) return openWatch(response)
      if (request.method === 'GET') {
        const items = pathname.endsWith('/dnses') ? [dns] : []
        return sendJson(response, { items, metadata: { resourceVersion: '1' } })
      }
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = parseJson(Buffer.concat(chunks).toString())
      const { name } = recordOf(recordOf(body).metadata)
      written.set(`${request.method} ${pathname} ${String(name)}`, recordOf(body).data)
      sendJson(response, body)
    })
    const clusters = [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }]
    const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
    const users = [{ name: 'u', user: {} }]
    const config = { clusters, contexts, users, 'current-context': 'c' }
    const folder = temporaryFolder(t, { config: JSON.stringify(config) })
    const listen = `127.0.0.1:${await freePort()}`
    const screen = new Screen()
    const flags = ['--kubeconfig', `${folder}/config`, '--configmap', 'dns/coredns']
    const ended = main(['openshift', ...flags, '--listen', listen], screen)
    await screen.shows('stdout', /^ready: ConfigMap dns\/coredns has the Corefile$/m)
    await vi.waitFor(() => assert.equal(written.size, 2))
    const data = written.get('POST /api/v1/namespaces/dns/configmaps coredns')
    assert.ok(isRecord(data))
    assert.match(String(data.Corefile), /class denial error/)
    assert.equal((await fetch(`http://${listen}/readyz`)).status, 200)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('rejects a ConfigMap without a namespace', async () => {
    const ran = await runCli(['openshift', '--configmap', 'dns'])
    assert.deepEqual(ran, failed('kubedoh: --configmap is "dns", expected NAMESPACE/NAME'))
  })
})
