/**
 * The plugins of Workers: those that need neither files nor sockets, `isAtEdge` in their entries. A
 * list of its own, so that the Worker's bundle has no other plugins.
 * @module
 */
import { type PluginSet, pluginSet } from '../chain/plugin-entry.ts'
import { aclPlugin } from './acl/acl.ts'
import { anyPlugin } from './any/any.ts'
import { bufsizePlugin } from './bufsize/bufsize.ts'
import { cachePlugin } from './cache/setup.ts'
import { chaosPlugin } from './chaos/chaos.ts'
import { dns64Plugin } from './dns64/dns64.ts'
import { erraticPlugin } from './erratic/erratic.ts'
import { errorsPlugin } from './errors/errors.ts'
import { forwardPlugin } from './forward/setup.ts'
import { headerPlugin } from './header/header.ts'
import { hostsPlugin } from './hosts/hosts.ts'
import { kubernetesPlugin } from './kubernetes/setup.ts'
import { loadbalancePlugin } from './loadbalance/setup.ts'
import { localPlugin } from './local/local.ts'
import { logPlugin } from './log/setup.ts'
import { metadataPlugin } from './metadata/metadata.ts'
import { minimalPlugin } from './minimal/minimal.ts'
import { nsidPlugin } from './nsid/nsid.ts'
import { prometheusPlugin } from './prometheus/prometheus.ts'
import { rewritePlugin } from './rewrite/setup.ts'
import { templatePlugin } from './template/setup.ts'
import { viewPlugin } from './view/view.ts'
import { whoamiPlugin } from './whoami/whoami.ts'

/** The plugins of Workers, in the order of `ALL_PLUGINS`. */
export const EDGE_PLUGINS: PluginSet = pluginSet([
  metadataPlugin,
  nsidPlugin,
  bufsizePlugin,
  prometheusPlugin,
  errorsPlugin,
  logPlugin,
  localPlugin,
  dns64Plugin,
  anyPlugin,
  chaosPlugin,
  loadbalancePlugin,
  rewritePlugin,
  aclPlugin,
  cachePlugin,
  headerPlugin,
  minimalPlugin,
  templatePlugin,
  hostsPlugin,
  kubernetesPlugin,
  forwardPlugin,
  erraticPlugin,
  whoamiPlugin,
  viewPlugin,
])
