/**
 * `kubedoh explain` and `kubedoh doctor` at a real API server. Run by `npm run test:cluster`.
 * @module
 */
import { equal, match } from 'node:assert/strict'
import { afterAll, beforeAll, it } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { describeUnless } from '../describe-unless.ts'
import { ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, pod, service, slice } from './objects.ts'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const PATIENCE_MS = 120_000
const DNS = 'kube-system/kube-dns'

describeUnless(skip, 'a real API server', () => {
  let api: ApiServer | undefined
  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    for (const object of [
      namespace('shop'),
      service('shop/web'),
      service('shop/idle', { clusterIP: 'None' }),
      slice('shop/idle-1', 'idle', [
        { addresses: ['10.244.0.9'], hostname: 'idle-0', conditions: { ready: false } },
      ]),
      {
        ...pod('shop/job'),
        spec: {
          containers: [{ name: 'main', image: 'example.org/nothing' }],
          dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
        },
      },
    ]) {
      await api.create(object)
    }
  }, PATIENCE_MS)
  afterAll(() => api?.stop())

  const run = async (command: string): Promise<{ status: number; stdout: string }> => {
    const found = await runCli([...command.split(' '), '--kubeconfig', api?.adminConfig ?? ''])
    return { status: found.status, stdout: `${found.stdout}${found.stderr}` }
  }

  it('explains names straight from the cluster', { timeout: PATIENCE_MS }, async () => {
    const web = await run('explain wbe.shop.svc.cluster.local')
    match(web.stdout, /^why +namespace "shop" has no Service "wbe"$/m)
    match(web.stdout, /^did you mean +web\.shop\.svc\.cluster\.local\.$/m)
    const idle = await run('explain idle.shop.svc.cluster.local')
    match(idle.stdout, /^why +no endpoint of Service shop\/idle is ready: idle-0$/m)
    const job = await run('explain web --from shop/job')
    match(job.stdout, /^from +shop\/job: ClusterFirst, ndots 1$/m)
    match(job.stdout, /^attempt 1 +web\.shop\.svc\.cluster\.local\. NOERROR: wins$/m)
  })

  it('finds what is wrong with the DNS Service', { timeout: PATIENCE_MS }, async () => {
    const none = await run('doctor')
    equal(none.status, 1)
    match(none.stdout, /^problem +kube-dns .*kube-dns.*not found/m)
    await api?.create(service(DNS))
    const empty = await run('doctor --server 127.0.0.1:1')
    match(empty.stdout, /^problem +kube-dns +Service .* has no ready endpoint$/m)
    await api?.create(slice(`${DNS}-1`, 'kube-dns', [{ addresses: ['10.244.0.2'] }]))
    const elsewhere = await run('doctor --server 127.0.0.1:1')
    match(elsewhere.stdout, /^problem +kube-dns .* points to 10\.244\.0\.2, not to 127\.0\.0\.1$/m)
    const here = await run('doctor --server 10.244.0.2')
    match(here.stdout, /^ok +kube-dns .* points to 10\.244\.0\.2$/m)
  })
})
