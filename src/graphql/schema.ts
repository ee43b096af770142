import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.ts'
import './scalars.ts'
import './errors.ts'
import './connection.ts'
import './session/queries.ts'
import './session/mutations.ts'
import './elicitation/queries.ts'
import './elicitation/mutations.ts'
import './gate/gate.ts'
import './gate/launch.ts'
import './process/process.ts'
import './key/key.ts'
import './subscription/needs-input.ts'
import './subscription/banners.ts'
import './subscription/timeline.ts'
import './timeline/audit-log.ts'
import './subscription/gate.ts'

export function createSchema(): GraphQLSchema {
  return builder.toSchema()
}
