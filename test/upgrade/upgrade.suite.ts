/**
 * `npm run test:upgrade`: `helm upgrade` from the image and the chart of an earlier commit to this
 * one's, and `helm rollback`, on a real node under queries from pods and clients of the gateways.
 * @module
 */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { builtImage } from '../real-node/built-images.ts'
import {
  helmChart,
  helmChartIn,
  SYSTEM,
  startCluster,
  waitForDns,
  waitForServers,
} from '../real-node/cluster.ts'
import { waitForGateways } from '../real-node/gateway-actions.ts'
import { clientsDuring } from '../real-node/gateway-load.ts'
import { EXPORTER, type Gateway, installGatewayBy } from '../real-node/gateway-setup.ts'
import { type KubernetesNode, waitFor } from '../real-node/node.ts'
import { probeMachine } from '../real-node/packages.ts'
import { NODE } from '../real-node/parts.ts'
import { countDuring } from '../real-node/under-load.ts'
import { prepareRelease, type Release } from './earlier-release.ts'

const IMAGE = 'localhost/kubedoh'
const CURRENT_TAG = '0.1.0'
/**
 * Queries a second. Their conntrack entries, which kube-proxy deletes one by one before it looks at
 * gateways again, must not keep it busy for longer than a gateway lingers.
 */
const PER_SECOND = 500
/** The chart's own, with which a gateway lingers for 20 s. */
const GRACE = 'gateway.terminationGracePeriodSeconds=30'

const unfit = probeMachine()
const binaries: Binaries | string = unfit ?? prepareBinaries('helm')
const release: Release | string = typeof binaries === 'string' ? binaries : prepareRelease()

describeUnless(typeof release === 'string' && release, 'an upgrade between two versions', () => {
  let node: KubernetesNode
  let gateway: Gateway
  let services = 0
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string' && typeof release !== 'string')
    const current = await builtImage()
    node = await startCluster(binaries, current)
    // Both have the same name until there are two versions.
    await node.importImage(release.image)
    await node.tagImage(`${IMAGE}:${CURRENT_TAG}`, `${IMAGE}:earlier`)
    await node.importImage(current.archive)
  })
  afterAll(() => node?.stop())

  const rolledOut = async (): Promise<void> => {
    await waitForServers(node)
    const rollout = ['rollout', 'status', `deployment/${EXPORTER}`, '--timeout=120s']
    await node.kubectl(...SYSTEM, ...rollout)
    await waitForGateways(node)
  }
  /** Each part has an image of this tag, and a new Service has its address at the gateways. */
  const assertRuns = async (tag: string): Promise<void> => {
    const path = 'jsonpath={.items[*].spec.containers[0].image}'
    const selector = ['-l', 'app.kubernetes.io/name=kubedoh', '-o', path]
    const images = (await node.kubectl(...SYSTEM, 'get', 'pods', ...selector)).split(' ')
    assert.deepEqual(images, Array(7).fill(`${IMAGE}:${tag}`))
    const name = `fresh-${services++}`
    await node.kubectl('create', 'service', 'clusterip', name, '--tcp=80')
    const address = await node.kubectl('get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}')
    await waitFor(
      `${name} at the gateways`,
      async () => (await gateway.ask(`${name}.default.svc.cluster.local`)) === address,
    )
  }
  const underLoad = async (what: string, action: () => Promise<void>): Promise<void> => {
    const at = { node, address: NODE.dns, what, perSecond: PER_SECOND }
    const { counts } = await countDuring(at, async () => {
      const { reasons } = await clientsDuring(node, gateway.asked, [what, action])
      assert.deepEqual(reasons, {})
    })
    assert.deepEqual(counts.examples, [])
  }

  test('starts with the earlier version', async () => {
    assert.ok(typeof release !== 'string')
    const helm = helmChartIn(release.chart)
    gateway = await installGatewayBy(helm, node, '--set', `image.tag=earlier,${GRACE}`)
    await rolledOut()
    await waitForDns(node)
    await assertRuns('earlier')
  })

  // A step is not the same when it runs again.
  test('loses nothing when it is upgraded, as docs/upgrades.md has it', { retry: 0 }, async () => {
    await underLoad('helm upgrade between two versions', async () => {
      await helmChart(node, 'upgrade', '--reset-then-reuse-values', '--set', 'image.tag=')
      await rolledOut()
    })
    await assertRuns(CURRENT_TAG)
  })

  test('loses nothing when it is rolled back', { retry: 0 }, async () => {
    await underLoad('helm rollback between two versions', async () => {
      await node.helm('rollback', 'kubedoh', ...SYSTEM)
      await rolledOut()
    })
    await assertRuns('earlier')
  })
})
