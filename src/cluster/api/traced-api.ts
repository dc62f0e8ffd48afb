/**
 * Reports the lists and watches of an API server as spans.
 * @module
 */
import { errorText, recordOf } from '../../dns/bytes/unknown.ts'
import type { OpenSpan, Tracer } from '../../dns/telemetry/tracer.ts'
import { INITIAL_END, type Listed, type ObjectApi, type WatchOptions } from './object-api.ts'

/**
 * Returns an API with a span `list RESOURCE` for each page of a list and each streamed list, and
 * `watch RESOURCE` for each watch from its response to its end.
 */
export function tracedApi(api: ObjectApi, tracer: Pick<Tracer, 'begin'>): ObjectApi {
  const begin = (verb: string, { resource }: Listed): OpenSpan => {
    const tags = { 'server.address': api.host, 'k8s.resource': resource }
    return tracer.begin(`${verb} ${resource}`, { kind: 'client', tags })
  }
  return {
    host: api.host,
    send: (request, signal) => api.send(request, signal),
    list: async (collection, continueToken, signal, onBytes) => {
      const span = begin('list', collection)
      return traced(span, async () => {
        const page = await api.list(collection, continueToken, signal, onBytes)
        return [page, { 'k8s.objects': String(page.items.length) }]
      })
    },
    watch: async (collection, options) => {
      const streamed = options.sendInitialEvents === true ? begin('list', collection) : undefined
      const watch = new TracedWatch(streamed, () => begin('watch', collection))
      return traced(watch, async () => {
        await api.watch(collection, watch.around(options))
        return [undefined, {}]
      })
    },
  }
}

type Tags = Readonly<Record<string, string>>

/** Ends a span as a request ends. */
async function traced<T>(
  { end }: Pick<OpenSpan, 'end'>,
  request: () => Promise<readonly [T, Tags]>,
): Promise<T> {
  try {
    const [result, tags] = await request()
    end(tags)
    return result
  } catch (error) {
    end({ error: errorText(error) })
    throw error
  }
}

/** A list that is streamed first, if it is, then the watch. */
class TracedWatch implements Pick<OpenSpan, 'end'> {
  private span: OpenSpan | undefined
  private isListing: boolean
  private readonly beginWatch: () => OpenSpan
  private events = 0

  constructor(list: OpenSpan | undefined, beginWatch: () => OpenSpan) {
    this.span = list
    this.isListing = list !== undefined
    this.beginWatch = beginWatch
  }

  around(options: WatchOptions): WatchOptions {
    return {
      ...options,
      onOpen: () => {
        this.span ??= this.beginWatch()
        options.onOpen()
      },
      onEvent: (event) => {
        this.events++
        if (this.isListing && event.type === 'BOOKMARK') this.noteBookmark(event.object)
        return options.onEvent(event)
      },
    }
  }

  /** A watch that never opened has only an error to report. */
  readonly end = (tags: Tags = {}): void => {
    const span = this.span ?? this.beginWatch()
    span.end({ 'k8s.events': String(this.events), ...tags })
  }

  private noteBookmark(object: unknown): void {
    const { annotations } = recordOf(recordOf(object).metadata)
    if (recordOf(annotations)[INITIAL_END] !== 'true') return
    this.end()
    this.isListing = false
    this.events = 0
    this.span = this.beginWatch()
  }
}
