/**
 * Readiness: the plugins of all server blocks with `ready` must be able to answer.
 * @module
 */

import type { Plugin } from '../contract/plugin.ts'
import type { Chain } from './chain.ts'

type Watched = { readonly plugin: Plugin; readonly isMonitored: boolean }

/** Watches the plugins of chains. */
export class Readiness {
  private watched: readonly Watched[]

  constructor(chains: readonly Chain[]) {
    this.watched = chains.flatMap(({ plugins, features }) => {
      const ready = features.find(({ kind }) => kind === 'ready')
      if (ready?.kind !== 'ready') return []
      const isMonitored = ready.monitor === 'continuously'
      return plugins.map((plugin) => ({ plugin, isMonitored }))
    })
  }

  /** Names of the plugins that cannot answer yet, each once, sorted. */
  waiting(): string[] {
    const waiting = this.watched.filter(({ plugin }) => plugin.isReady?.() === false)
    const isDone = (one: Watched): boolean => !one.isMonitored && !waiting.includes(one)
    this.watched = this.watched.filter((one) => !isDone(one))
    return [...new Set(waiting.map(({ plugin }) => plugin.name))].sort()
  }
}
