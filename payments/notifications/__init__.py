"""People are told of conflicts where they are: by mail, by a signed webhook, in a chat."""
