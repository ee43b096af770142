import { createContext, useContext } from 'react'
import type { StartQuery } from '../generated/graphql.ts'
import { type Permission, permissionsOf } from './permissions.ts'

type Viewer = StartQuery['viewer']

const ViewerContext = createContext<Viewer | null>(null)
export const ViewerProvider = ViewerContext.Provider

/** Who is signed in. `may` decides what is offered; the server decides what is done. */
export function useViewer(): Viewer & { may(permission: Permission): boolean } {
  const viewer = useContext(ViewerContext)
  if (!viewer) throw new Error('useViewer needs a ViewerProvider above it')
  return { ...viewer, may: (permission) => permissionsOf(viewer).includes(permission) }
}
