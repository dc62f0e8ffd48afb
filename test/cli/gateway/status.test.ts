import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { WEB } from '../../gateway/publishing.ts'
import { PublishingGateway } from '../../worker/publishing-gateway.ts'
import { ADMIN, startShopGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n'
const HEAD = /^CLUSTER +STATE +GENERATION +CONFIRMED +AGE +RECORDS +SHARDS +BYTES +FOLLOWERS$/

function run(url: string, ...words: readonly string[]): Promise<Ran> {
  return runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
}

describe('kubedoh status', () => {
  test('prints the clusters of a gateway on Node', async (t) => {
    const url = await startShopGateway(t, COREFILE, new Date().toISOString())
    const { status, stdout } = await run(url, 'status')
    const [head = '', row = '', ...others] = stdout.split('\n')
    assert.equal(status, 0)
    assert.match(head, HEAD)
    assert.match(row, /^shop +fresh +7 +20\d\d-\S+Z +\d+s +1 +1 +\d+ +-$/)
    assert.deepEqual(others, [''])
    assert.equal((await run(url, 'rollback', 'shop', '7')).status, 0)
    assert.match((await run(url, 'status')).stdout, / rolled back; the newest is 7\n$/)
    const { clusters } = JSON.parse((await run(url, 'status', '--json')).stdout)
    assert.partialDeepStrictEqual(clusters, [{ cluster: 'shop', isPinned: true, followers: null }])
  })

  test('prints a cluster that has published nothing', async (t) => {
    const url = await startShopGateway(t, COREFILE, undefined)
    const { stdout } = await run(url, 'status')
    assert.match(stdout, /^shop +nothing yet +- +- +- +- +- +- +-$/m)
  })

  test('counts the isolates that follow an object of a Worker', async (t) => {
    const more = { ADMIN_TOKEN_SHA256: await hashToken(ADMIN) }
    const shop = await PublishingGateway.start(await keys(), undefined, more)
    t.onTestFinished(() => shop.stop())
    await shop.publish(WEB, 1)
    const followers = async (): Promise<unknown> => {
      const { clusters } = JSON.parse((await run(shop.gateway.url, 'status', '--json')).stdout)
      return clusters[0].followers
    }
    assert.equal(await followers(), 0)
    await shop.ask('web.shop.svc.cluster.local A')
    while ((await followers()) !== 1) await shop.ask('web.shop.svc.cluster.local A')
  })
})
