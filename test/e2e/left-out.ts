/**
 * Tests of Kubernetes that this node cannot run, and why. The suite prints each with its reason,
 * and fails when an entry has no test any more.
 * @module
 */

const NODES = 'needs two nodes or more'
const PODS = 'restarts a part of the control plane, which must be a pod; here it is a process'

/** Reasons, by a part of the test's name. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  '[Provider:GCE]': 'looks up names of the Internet, on Google Compute Engine',
  'should work after restarting kube-proxy': PODS,
  'should work after restarting apiserver': PODS,
  'should preserve source pod IP for traffic thru service cluster IP': NODES,
  'endpoints if PublishNotReadyAddresses is true': NODES,
  'endpoints if PublishNotReadyAddresses is false': NODES,
  'should respect internalTrafficPolicy=Local': NODES,
  'should support externalTrafficPolicy=Local for type=NodePort': NODES,
  'should fail health check node port if there are only terminating endpoints': NODES,
  'should fallback to terminating endpoints': NODES,
  'should fallback to local terminating endpoints': NODES,
  'HealthCheckNodePort correctly when ExternalTrafficPolicy changes': NODES,
}

/** Further reasons while the node cache runs. */
export const LEFT_OUT_WITH_CACHE: Readonly<Record<string, string>> = {
  'should be able to change stubDomain configuration':
    'the cache sends names outside of the cluster to the resolvers of the node, as NodeLocal DNSCache does',
}
