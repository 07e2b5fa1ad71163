#!/usr/bin/env bash

source "${FRAMEWORK_DIR:-}/shell_lib.sh"

__config__() {
  cat <<'YAML'
configVersion: v1
kubernetesCustomResourceConversion:
  - name: alpha1_to_alpha2
    crdName: crontabs.stable.example.com
    conversions:
      - fromVersion: stable.example.com/v1alpha1
        toVersion: stable.example.com/v1alpha2
YAML
}

# In v1alpha1 the crontab is a list of fields, in v1alpha2 a text.
__on_conversion::alpha1_to_alpha2() {
  context::jq '{
    convertedObjects: [
      .review.request.objects[]
      | if .apiVersion == "stable.example.com/v1alpha1" then
          .apiVersion = "stable.example.com/v1alpha2" | .spec.cron |= join(" ")
        else . end
    ]
  }' >"$CONVERSION_RESPONSE_PATH" ||
    echo '{"failedMessage": "cannot convert crontabs.stable.example.com"}' >"$CONVERSION_RESPONSE_PATH"
}

hook::run "$@"
