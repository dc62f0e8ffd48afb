/**
 * Which plugins are waited for before a server says that it is ready: those of the server blocks
 * that have `ready` themselves.
 * @module
 */

import type { Chain } from './chain.ts'
import type { Plugin } from './plugin.ts'

type Watched = { readonly plugin: Plugin; readonly isWatchedOn: boolean }

/** Looks at the plugins of some chains. */
export class Readiness {
  private watched: readonly Watched[]

  constructor(chains: readonly Chain[]) {
    this.watched = chains.flatMap(({ plugins, features }) => {
      const ready = features.find(({ kind }) => kind === 'ready')
      if (ready?.kind !== 'ready') return []
      const isWatchedOn = ready.monitor === 'continuously'
      return plugins.map((plugin) => ({ plugin, isWatchedOn }))
    })
  }

  /** Names of the plugins that cannot answer yet, each once, sorted. */
  waiting(): string[] {
    const waiting = this.watched.filter(({ plugin }) => plugin.isReady?.() === false)
    const isDone = (one: Watched): boolean => !one.isWatchedOn && !waiting.includes(one)
    this.watched = this.watched.filter((one) => !isDone(one))
    return [...new Set(waiting.map(({ plugin }) => plugin.name))].sort()
  }
}
