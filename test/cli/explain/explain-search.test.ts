import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { runCli } from '../run-cli.ts'

const SHOP = `${readFileSync('demo/shop.yaml', 'utf8')}
---
kind: Pod
metadata: { name: job, namespace: payments }
spec: { dnsConfig: { searches: [data.svc.cluster.local], options: [{ name: ndots, value: "1" }] } }
---
kind: Pod
metadata: { name: agent, namespace: payments }
spec: { hostNetwork: true }
`

describe('kubedoh explain --from', () => {
  const cases: { name: string; from: string; tried: string[]; answeredBy: string | null }[] = [
    {
      name: 'web',
      from: 'shop',
      tried: ['web.shop.svc.cluster.local.'],
      answeredBy: 'web.shop.svc.cluster.local.',
    },
    {
      name: 'web.shop',
      from: 'payments',
      tried: ['web.shop.payments.svc.cluster.local.', 'web.shop.svc.cluster.local.'],
      answeredBy: 'web.shop.svc.cluster.local.',
    },
    {
      name: 'postgres',
      from: 'payments/job',
      tried: [
        'postgres.payments.svc.cluster.local.',
        'postgres.svc.cluster.local.',
        'postgres.cluster.local.',
        'postgres.data.svc.cluster.local.',
      ],
      answeredBy: 'postgres.data.svc.cluster.local.',
    },
    { name: 'web', from: 'payments/agent', tried: ['web.'], answeredBy: null },
  ]
  for (const { name, from, tried, answeredBy } of cases) {
    test(`tries ${tried.length} names for ${name} from ${from}`, async (t) => {
      const objects = join(temporaryFolder(t, { 'shop.yaml': SHOP }), 'shop.yaml')
      const args = ['explain', name, '--objects', objects, '--from', from]
      const { status, stdout, stderr } = await runCli([...args, '--json'])
      assert.equal(status, 0, stderr)
      const { search, question } = JSON.parse(stdout)
      assert.deepEqual(
        search.attempts.map((one: { name: string }) => one.name),
        tried,
      )
      assert.deepEqual(
        [search.answeredBy, search.misses],
        [answeredBy, tried.length - (answeredBy === null ? 0 : 1)],
      )
      assert.equal(question.name, answeredBy ?? tried[0])
      const text = await runCli(args)
      assert.match(text.stdout, new RegExp(`^from {10}${from}: ClusterFirst, ndots \\d$`, 'm'))
    })
  }

  test('counts one name as one', async () => {
    const args = ['explain', 'web', '--objects', 'demo/shop.yaml', '--from', 'shop']
    const { stdout } = await runCli(args)
    assert.match(stdout, /^cost {10}1 name; 0 queries for A and AAAA are in vain$/m)
  })

  test('explains the attempt with similar names if none has records', async () => {
    const args = ['explain', 'pstgres.data', '--objects', 'demo/shop.yaml', '--from', 'payments']
    const { stdout } = await runCli(args)
    assert.match(stdout, /^cost {10}4 names; 8 queries for A and AAAA are in vain$/m)
    assert.match(stdout, /^did you mean {2}postgres\.data\.svc\.cluster\.local\.$/m)
  })

  const errors: [from: string, domain: string, error: string][] = [
    ['A/b c', '', '--from "A/b c" is not NAMESPACE or NAMESPACE/POD'],
    ['shop/none', '', '--from shop/none: no such Pod in demo/shop.yaml'],
    ['shop', 'a..b', 'CLUSTER_DOMAIN "a..b." is not a domain name'],
  ]
  for (const [from, domain, error] of errors) {
    test(`refuses ${from} ${domain} in one line`, async () => {
      const args = ['explain', 'web', '--objects', 'demo/shop.yaml', '--from', from]
      const environment = domain === '' ? undefined : { CLUSTER_DOMAIN: domain }
      assert.deepEqual(await runCli(args, environment), {
        status: 1,
        stdout: '',
        stderr: `kubedoh: ${error}\n`,
      })
    })
  }
})
