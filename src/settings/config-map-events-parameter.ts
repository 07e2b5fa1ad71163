import type { RuntimeParameter } from './runtime-parameters.ts';
import { booleanType } from './setting-type.ts';

/** Whether changes of the ConfigMap are logged; the runtime parameter `log.configmap.events` switches it. */
export class ConfigMapEventLog {
  #isOn = false;

  get isOn(): boolean {
    return this.#isOn;
  }

  get parameter(): RuntimeParameter {
    return {
      name: 'log.configmap.events',
      description: 'Set to true to log every event of the ConfigMap with the whole object',
      default: 'false',
      validate: (value) => void isYes(value),
      apply: (value) => {
        this.#isOn = isYes(value);
      },
    };
  }
}

function isYes(value: string): boolean {
  const parsed = booleanType.parse(value);
  if (parsed === undefined) throw new Error(`"${value}" is not a boolean, use true or false`);
  return parsed;
}
