#!/usr/bin/env bash
# Replaces four objects every second, until it is stopped. Usage: crontab-recreate.sh NAMESPACE

while sleep 1; do
  for number in 1 2 3 4; do
    kubectl -n "$1" replace --force -f - <<YAML
apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: crontab-$number
spec:
  cronSpec: "*/10 * * * *"
  image: cron-image-$number
YAML
  done
done
