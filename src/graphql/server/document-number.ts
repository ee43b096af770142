import type { DocumentNode } from 'graphql'

const numbers = new WeakMap<DocumentNode, number>()
let documents = 0

/** A short name of a document. The engine parses the same text once, so that a document is known by its object. */
export function documentNumber(document: DocumentNode): number {
  const number = numbers.get(document) ?? ++documents
  numbers.set(document, number)
  return number
}
