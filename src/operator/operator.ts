import type { AskOperationParts } from './ask-operation.ts';
import type { ConfigChangesParts } from './config-changes.ts';
import type { LifecycleParts } from './lifecycle.ts';
import type { ViewedOperator } from './operator-view.ts';
import type { TaskHandlerParts } from './task-pipeline.ts';

/**
 * All parts of the operator. Only the code that builds it has this type: each function of this directory declares the few
 * parts that it uses, and is given the whole.
 */
export type Operator = AskOperationParts &
  ConfigChangesParts &
  LifecycleParts &
  TaskHandlerParts &
  ViewedOperator;
