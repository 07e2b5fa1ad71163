module addon-operator.test/pause

go 1.24
