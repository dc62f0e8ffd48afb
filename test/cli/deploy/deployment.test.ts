import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'vitest'
import { checkDeployment } from '../../../src/cli/deploy/deployment.ts'
import type { WorkerEnvironment } from '../../../src/cli/deploy/environment.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { startGateway } from '../../workerd.ts'

const { publicKeyText: publicKey } = await keys()
const CLUSTERS = JSON.stringify({ prod: { publicKey, tokenSha256: '0'.repeat(64) } })
const KUBERNETES = '. {\n  kubernetes a.test\n}\n'
const DB = '@ 60 IN SOA ns h 1 2 3 4 5\n'
const BINDINGS = [{ name: 'CLUSTER' }, { name: 'TOKENS' }]

/** Returns what is printed for an environment that has the bindings. */
function check(vars: Readonly<Record<string, unknown>>): Promise<string> {
  return checkEnvironment({ vars, durable_objects: { bindings: BINDINGS } })
}

async function checkEnvironment(environment: WorkerEnvironment): Promise<string> {
  const lines: string[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  await checkDeployment(environment, { stdout: stream, stderr: stream })
  return lines.join('')
}

describe('a deployment is refused if the Worker would answer 503:', () => {
  const cases: { name: string; variables: Record<string, string>; message: RegExp }[] = [
    {
      name: 'an unknown cluster',
      variables: { COREFILE: '. {\n  kubernetes a.test {\n    cluster lab\n  }\n}\n', CLUSTERS },
      message: /^COREFILE:2:3: CLUSTERS has no cluster "lab"$/,
    },
    {
      name: 'no cluster',
      variables: { COREFILE: KUBERNETES, CLUSTERS: '{}' },
      message: /^COREFILE:2:3: add the cluster to read: "cluster ID"; CLUSTERS has none$/,
    },
    {
      name: 'a refused plugin',
      variables: { COREFILE: '. {\n  tsig\n}\n' },
      message: /^COREFILE:2:3: "tsig" does not work in a Worker: /,
    },
    {
      name: 'an upstream of plain DNS',
      variables: { COREFILE: '. {\n  forward . 192.0.2.53\n}\n' },
      message: /^COREFILE:2:3: a Worker queries upstreams over https:\/\/ only$/,
    },
    {
      name: 'an unknown location',
      variables: { COREFILE: '. {\n  whoami\n}\n', CLUSTER_LOCATION: 'eu' },
      message: /^CLUSTER_LOCATION "eu" is none of wnam, /,
    },
    {
      name: 'an unknown jurisdiction',
      variables: { COREFILE: '. {\n  whoami\n}\n', JURISDICTION: 'weur' },
      message: /^JURISDICTION "weur" is none of eu, fedramp, us$/,
    },
    {
      name: 'a service scope that no namespace has',
      variables: { COREFILE: '. {\n  whoami\n}\n', SERVICE_SCOPE: 'shop,Dev' },
      message: /^SERVICE_SCOPE: "namespaces" has "Dev", which no namespace is called$/,
    },
    {
      name: 'a missing import',
      variables: { COREFILE: '. {\n  import more\n}\n', FILES: '{"less": ""}' },
      message: /^COREFILE:2:10: cannot import "\/more"/,
    },
    {
      name: 'an invalid zone file',
      variables: { COREFILE: '. {\n  file db a.test\n}\n', FILES: '{"db": "@ 60 IN A x\\n"}' },
      message: /^db:1/,
    },
    { name: 'no Corefile', variables: { COREFILE: '' }, message: /^COREFILE:1:1: no server block/ },
    {
      name: 'files that are none',
      variables: { COREFILE: '. {\n}\n', FILES: '[]' },
      message: /^FILES is not a JSON object/,
    },
    {
      name: 'another variable',
      variables: { COREFILE: '. {\n  whoami\n}\n', STALE_SECONDS: 'x' },
      message: /^STALE_SECONDS is "x"/,
    },
  ]
  for (const { name, variables, message } of cases) {
    test(name, async (t) => {
      await assert.rejects(check(variables), { message })
      const gateway = await startGateway({ port: 0, variables })
      t.onTestFinished(() => gateway.stop())
      const { status } = await fetch(`${gateway.url}/dns-query?name=a.test`)
      assert.equal(status, 503)
    })
  }

  test('a variable that Cloudflare does not take', async () => {
    const FILES = { db: 'x'.repeat(5200) }
    await assert.rejects(check({ COREFILE: KUBERNETES, FILES }), {
      message: /^FILES has 52\d\d bytes, and Cloudflare takes 5120; move files to another one/,
    })
  })
})

describe('a deployment goes on', () => {
  test('with a file, an import, a variable and the only cluster', async () => {
    const COREFILE = 'import head\n. {\n  kubernetes a.test\n  file db {$ZONE}\n}\n'
    const FILES = { head: 'b.test {\n  whoami\n}\n', db: DB }
    assert.equal(
      await check({ COREFILE, FILES, CLUSTERS, ZONE: 'c.test' }),
      'COREFILE: 2 server blocks, no problems\n',
    )
  })

  test('with warnings', async () => {
    assert.match(
      await check({ COREFILE: '. {\n  health\n  file none a.test\n}\n' }),
      /^COREFILE:2:3: warning: "health" .*\nCOREFILE:3:8: warning: "\/none" is missing .*\n/,
    )
  })

  test('without a Corefile that is a secret, or that the dashboard has', async () => {
    const bound = { vars: {}, durable_objects: { bindings: BINDINGS } }
    const secrets = { required: ['COREFILE', 'CLUSTERS'] }
    for (const environment of [
      { ...bound, secrets },
      { ...bound, keep_vars: true },
    ]) {
      assert.match(await checkEnvironment(environment), /^warning: COREFILE is not in \[vars\]/)
    }
  })
})

describe('a deployment is refused with what to add to the file, if it lacks', () => {
  const needed = 'the Worker needs them'
  const cases: { name: string; environment: WorkerEnvironment; message: string }[] = [
    {
      name: 'everything',
      environment: { vars: {}, durable_objects: { bindings: [] } },
      message: `add COREFILE and CLUSTERS to [vars], and CLUSTER and TOKENS as \
[[durable_objects.bindings]]: ${needed}`,
    },
    {
      name: 'everything in an environment',
      environment: { targetEnvironment: 'test', vars: {}, durable_objects: { bindings: [] } },
      message: `add COREFILE and CLUSTERS to [env.test.vars], and CLUSTER and TOKENS as \
[[env.test.durable_objects.bindings]]: ${needed}, and an environment does not inherit them`,
    },
    {
      name: 'a binding',
      environment: {
        vars: { COREFILE: '. {\n  whoami\n}\n' },
        durable_objects: { bindings: BINDINGS.slice(0, 1) },
      },
      message: `add TOKENS as [[durable_objects.bindings]]: ${needed}`,
    },
    {
      name: 'the clusters that its Corefile reads',
      environment: {
        vars: { COREFILE: '. {\n  kubernetes a.test {\n    cluster prod\n  }\n}\n' },
        durable_objects: { bindings: BINDINGS },
      },
      message: `add CLUSTERS to [vars]: ${needed}`,
    },
    {
      name: 'a secret that it does not require',
      environment: {
        vars: {},
        secrets: { required: ['COREFILE'] },
        durable_objects: { bindings: BINDINGS },
      },
      message: `add CLUSTERS to [vars]: ${needed}`,
    },
  ]
  for (const { name, environment, message } of cases) {
    test(name, async () => {
      await assert.rejects(checkEnvironment(environment), { name: 'CommandError', message })
    })
  }
})

describe('an open resolver', () => {
  const FORWARD = 'forward . https://dns.example'
  const CLOSED = 'acl {\n    allow net 192.0.2.0/24\n    block\n  }'
  const cases: { name: string; corefile: string; isOpen: boolean }[] = [
    { name: 'forwards the root', corefile: `. {\n  ${FORWARD}\n}\n`, isOpen: true },
    { name: 'among other zones', corefile: `a.test . {\n  ${FORWARD}\n}\n`, isOpen: true },
    {
      name: 'forwards what no cluster has',
      corefile: `. {\n  kubernetes a.test {\n    cluster prod\n  }\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'forwards the root second',
      corefile: `. {\n  forward a.test https://a.example\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'refuses some clients only',
      corefile: `. {\n  acl {\n    block net 192.0.2.0/24\n  }\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'allows all clients first',
      corefile: `. {\n  acl {\n    allow\n    block\n  }\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'refuses clients for another zone',
      corefile: `. {\n  ${CLOSED.replace('acl', 'acl a.test')}\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'chooses by type',
      corefile: `. {\n  view a {\n    expr type() == 'A'\n  }\n  ${FORWARD}\n}\n`,
      isOpen: true,
    },
    {
      name: 'is none with a closed acl',
      corefile: `. {\n  ${CLOSED}\n  ${FORWARD}\n}\n`,
      isOpen: false,
    },
    {
      name: 'is none with a view of clients',
      corefile: `. {\n  view a {\n    expr incidr(client_ip(), '192.0.2.0/24')\n  }\n  ${FORWARD}\n}\n`,
      isOpen: false,
    },
    { name: 'is none for a zone', corefile: `a.test {\n  ${FORWARD}\n}\n`, isOpen: false },
    {
      name: 'is none for a zone of forward',
      corefile: '. {\n  forward a.test https://dns.example\n}\n',
      isOpen: false,
    },
  ]
  for (const { name, corefile: COREFILE, isOpen } of cases) {
    test(name, async () => {
      const open = check({ COREFILE, CLUSTERS, PUBLIC: 'true' })
      if (isOpen) {
        await assert.rejects(open, {
          name: 'CommandError',
          message:
            /^COREFILE:\d+:3: with PUBLIC = "true" .*, an open resolver; .* set PUBLIC_RECURSE = "true" in \[vars\]$/,
        })
      } else assert.match(await open, /^COREFILE: /m)
      await check({ COREFILE, CLUSTERS, PUBLIC: 'true', PUBLIC_RECURSE: 'true' })
      await check({ COREFILE, CLUSTERS, PUBLIC: 'false' })
    })
  }
})
