/**
 * What happens to a gateway of three pods over its days, on a real node: none of it may fail a
 * request, but the kill of a pod without warning.
 * @module
 */
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { crash, evict, helmChart, podsOf, SYSTEM } from './cluster.ts'
import { applySecret, EXPORTER, GATEWAY, type Gateway } from './gateway-setup.ts'
import { type KubernetesNode, waitFor } from './node.ts'

const GATEWAYS = 'app.kubernetes.io/component=gateway'
const PODS = 3

/** An action, by what it is called. */
export type GatewayAction = readonly [
  what: string,
  action: (node: KubernetesNode, gateway: Gateway) => Promise<void>,
]

/** Actions after which no request may have failed, in this order. */
export const ACTIONS: readonly GatewayAction[] = [
  [
    'rollout restart',
    async (node) => {
      await node.kubectl(...SYSTEM, 'rollout', 'restart', `deployment/${GATEWAY}`)
      await waitForGateways(node)
    },
  ],
  [
    'helm upgrade --reuse-values',
    (node) => upgrade(node, `gateway.podAnnotations.round=at-${Date.now()}`),
  ],
  [
    'helm rollback',
    async (node) => {
      await node.helm('rollback', 'kubedoh', ...SYSTEM)
      await waitForGateways(node)
    },
  ],
  [
    'eviction, as by a drain',
    async (node) => {
      const [pod = ''] = await podsOf(node, GATEWAYS)
      await evict(node, pod)
      await waitFor('the end of the pod', async () => !(await podsOf(node, GATEWAYS)).includes(pod))
      await waitForGateways(node)
    },
  ],
  ["rotation of the exporters' keys", rotateKeys],
]

/** Kills one of the gateways, and waits until its container has started again. */
export async function killGateway(node: KubernetesNode): Promise<void> {
  const [pod = ''] = await podsOf(node, GATEWAYS)
  await crash(node, pod)
  await waitForGateways(node)
}

/** Returns the addresses of the gateway's pods. */
export async function gatewayAddresses(node: KubernetesNode): Promise<string[]> {
  const addresses = 'jsonpath={.items[*].status.podIP}'
  const text = await node.kubectl(...SYSTEM, 'get', 'pods', '-l', GATEWAYS, '-o', addresses)
  return text.split(' ')
}

/** As docs/operations.md has it: the gateway knows both keys while the exporters change. */
async function rotateKeys(node: KubernetesNode, gateway: Gateway): Promise<void> {
  const { variables } = gateway
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const { test: old } = JSON.parse(variables.CLUSTERS ?? '')
  const both = {
    publicKeys: [old.publicKey, publicKey],
    tokenSha256s: [old.tokenSha256, tokenSha256],
  }
  const setClusters = async (clusters: unknown, round: string): Promise<void> => {
    gateway.variables = { ...variables, CLUSTERS: JSON.stringify(clusters) }
    await applySecret(node, GATEWAY, gateway.variables)
    await upgrade(node, `gateway.podAnnotations.keys=${round}-${Date.now()}`)
  }
  await setClusters({ test: both }, 'both')
  await applySecret(node, EXPORTER, { token, 'signing-key': signingKey })
  await node.kubectl(...SYSTEM, 'rollout', 'restart', `deployment/${EXPORTER}`)
  await node.kubectl(...SYSTEM, 'rollout', 'status', `deployment/${EXPORTER}`, '--timeout=120s')
  await setClusters({ test: { publicKey, tokenSha256 } }, 'new')
}

async function upgrade(node: KubernetesNode, value: string): Promise<void> {
  await helmChart(node, 'upgrade', '--reuse-values', '--set', value)
  await waitForGateways(node)
}

/** Waits until all gateways of the newest version are Ready, and those before are gone. */
export async function waitForGateways(node: KubernetesNode): Promise<void> {
  await node.kubectl(...SYSTEM, 'rollout', 'status', `deployment/${GATEWAY}`, '--timeout=120s')
  await waitFor('the end of pods', async () => (await podsOf(node, GATEWAYS)).length === PODS)
}
