/**
 * "Recovery" in docs/failures.md: what it promises, with a gateway on a folder, and its commands.
 * @module
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { type ClusterKeys, createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { createNodeGateway, createNodeStore } from '../../src/server/gateway/node-gateway.ts'
import { type Ran, runCli } from '../cli/run-cli.ts'
import { SHOP_YAML } from '../cli/shop.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { within } from '../server/clients.ts'
import { read } from './pages.ts'

const PAGE = read('docs/failures.md')
const ADMIN = 'the-token-of-the-operator'
const COREFILE = '. {\n  kubernetes shop.test {\n    cluster prod\n  }\n}\n'
const WEB = 'web.shop.svc.shop.test'

type Gateway = {
  readonly close: () => Promise<void>
  /** Runs a command of an operator. */
  readonly run: (...words: readonly string[]) => Promise<Ran>
  /** Publishes the shop once, with an address of `web`. */
  readonly publish: (keys: ClusterKeys, address: string) => Promise<Ran>
  /** Returns what `query` prints with a client's token. */
  readonly query: (token: string) => Promise<Ran>
}

/** Starts a gateway that keeps all in a folder. */
async function start(t: TestContext, folder: string, keys: ClusterKeys): Promise<Gateway> {
  const { publicKey, tokenSha256 } = keys
  const server = await createNodeGateway({
    config: await readGatewayConfig({
      COREFILE,
      CLUSTERS: JSON.stringify({ prod: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    }),
    store: createNodeStore(folder, () => undefined),
    corefileFolder: '/',
    tls: undefined,
    log: () => undefined,
  })
  const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= Promise.resolve(server.close())
    return closed
  }
  t.onTestFinished(close)
  return {
    close,
    run: (...words) => runCli(words, { KUBEDOH_ADMIN_TOKEN: ADMIN, KUBEDOH_GATEWAY: url }),
    publish: ({ token, signingKey }, address) => {
      const objects = join(temporaryFolder(t), 'shop.yaml')
      writeFileSync(objects, SHOP_YAML.replace('192.0.2.10', address))
      const args = ['export', '--gateway', url, '--cluster', 'prod', '--objects', objects, '--once']
      return runCli(args, { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey })
    },
    query: (token) => runCli(['query', WEB, '--server', url, '--token', token]),
  }
}

async function createClient({ run }: Gateway): Promise<string> {
  const { stdout } = await run('token', 'create', 'laptop')
  return stdout.trim()
}

/** Queries until the answer has an address: the gateway looks for manifests in the background. */
async function untilAnswer(gateway: Gateway, token: string, address: string): Promise<void> {
  for (;;) {
    const { stdout } = await gateway.query(token)
    if (stdout.endsWith(` IN A ${address}\n`)) return
  }
}

function answers(ran: Ran, address: string): void {
  assert.match(
    ran.stdout,
    new RegExp(`^${WEB}\\. \\d+ IN A ${address.replaceAll('.', '\\.')}$`, 'm'),
  )
}

function succeeds(ran: Ran): void {
  assert.equal(ran.status, 0, ran.stderr)
}

describe('recovery', () => {
  test('of a gateway: another one with the same variables gets all names again', async (t) => {
    const keys = await createClusterKeys()
    const [old, fresh, restored] = [1, 2, 3].map(() => temporaryFolder(t)) as [
      string,
      string,
      string,
    ]
    const lost = await start(t, old, keys)
    succeeds(await lost.publish(keys, '192.0.2.10'))
    const token = await createClient(lost)
    answers(await lost.query(token), '192.0.2.10')
    const backup = join(temporaryFolder(t), 'gateway.jsonl')
    succeeds(await lost.run('backup', backup))
    await lost.close()

    const empty = await start(t, fresh, keys)
    succeeds(await empty.publish(keys, '192.0.2.11'))
    answers(await empty.query(await createClient(empty)), '192.0.2.11')
    assert.match((await empty.query(token)).stderr, /401/)

    const whole = await start(t, restored, keys)
    succeeds(await whole.run('restore', backup))
    succeeds(await whole.publish(keys, '192.0.2.11'))
    answers(await whole.query(token), '192.0.2.11')
  })

  test('of keys: the old ones are refused, and names are back once the new ones publish', async (t) => {
    const [before, after] = [await createClusterKeys(), await createClusterKeys()]
    const folder = temporaryFolder(t)
    const first = await start(t, folder, before)
    succeeds(await first.publish(before, '192.0.2.10'))
    const token = await createClient(first)
    await first.close()

    const second = await start(t, folder, after)
    assert.match((await second.query(token)).stdout, /^; SERVFAIL[\s\S]*: no snapshot yet$/m)
    assert.match((await second.publish(before, '192.0.2.66')).stderr, /gateway answers 401/)
    succeeds(await second.publish(after, '192.0.2.12'))
    answers(await second.query(token), '192.0.2.12')
  })

  test('of etcd: a generation holds the names, and older objects follow it', async (t) => {
    const keys = await createClusterKeys()
    const gateway = await start(t, temporaryFolder(t), keys)
    succeeds(await gateway.publish(keys, '192.0.2.11'))
    const token = await createClient(gateway)
    const [, generation = ''] =
      /^(\d+) .*current$/m.exec((await gateway.run('generations', 'prod')).stdout) ?? []
    const [, block = ''] =
      /```sh\n([\s\S]*?)```/.exec(PAGE.slice(PAGE.indexOf('### etcd of the cluster'))) ?? []
    const commands = block.split('\n').filter((line) => line.startsWith('kubedoh '))
    const [list = '', hold = '', release = '', ...others] = commands.map((line) =>
      line.replace('GENERATION', generation).slice('kubedoh '.length),
    )
    assert.deepEqual(others, [])
    for (const command of [list, hold]) succeeds(await gateway.run(...command.split(' ')))
    succeeds(await gateway.publish(keys, '192.0.2.10'))
    answers(await gateway.query(token), '192.0.2.11')
    succeeds(await gateway.run(...release.split(' ')))
    await within(untilAnswer(gateway, token, '192.0.2.10'), 'the newest generation')
  })
})
