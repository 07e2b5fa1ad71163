#!/usr/bin/env python3
import sys

from kubernetes import client, config


def trigger():
    config.load_config()
    body = client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="config-map-for-proj"),
        data={"memory": "256Gi", "coreCPU": "128", "ver": "1.0.1"},
    )
    api = client.CoreV1Api()
    try:
        api.create_namespaced_config_map("default", body)
    except client.ApiException as error:
        # The hook also runs when the operator is restarted.
        if error.status != 409:
            raise
        api.replace_namespaced_config_map(body.metadata.name, "default", body)
    print("ConfigMap default/config-map-for-proj is written")


if sys.argv[1:] == ["--config"]:
    print('{"configVersion": "v1", "onStartup": 10}')
else:
    trigger()
