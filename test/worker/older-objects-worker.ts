/**
 * The Worker with objects of an earlier build, which cannot be followed: during a deployment, a
 * newer Worker may call older objects.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import {
  ClusterObject as NewerClusterObject,
  TokenObject as NewerTokenObject,
} from '../../worker/index.ts'

export { default } from '../../worker/index.ts'

/** A cluster's object with the methods that the first build had. */
export class ClusterObject extends DurableObject<object> {
  private readonly newer: NewerClusterObject = new NewerClusterObject(this.ctx, this.env)

  readManifest(...values: Parameters<NewerClusterObject['readManifest']>): unknown {
    return this.newer.readManifest(...values)
  }

  readShard(...values: Parameters<NewerClusterObject['readShard']>): unknown {
    return this.newer.readShard(...values)
  }

  putShard(...values: Parameters<NewerClusterObject['putShard']>): unknown {
    return this.newer.putShard(...values)
  }

  putManifest(...values: Parameters<NewerClusterObject['putManifest']>): unknown {
    return this.newer.putManifest(...values)
  }

  putPublication(...values: Parameters<NewerClusterObject['putPublication']>): unknown {
    return this.newer.putPublication(...values)
  }

  state(...values: Parameters<NewerClusterObject['state']>): unknown {
    return this.newer.state(...values)
  }
}

/** The tokens' object with the methods that the first build had. */
export class TokenObject extends DurableObject<object> {
  private readonly newer: NewerTokenObject = new NewerTokenObject(this.ctx, this.env)

  list(): unknown {
    return this.newer.list()
  }

  add(...values: Parameters<NewerTokenObject['add']>): unknown {
    return this.newer.add(...values)
  }

  noteUse(...values: Parameters<NewerTokenObject['noteUse']>): unknown {
    return this.newer.noteUse(...values)
  }
}
