/* sns_setup.c: prints what Amazon SNS needs for the exporter sns; see sns_setup.h. */
#include "exporters/sns_setup.h"

#include <stdbool.h>

int sns_setup_print(const char *topic, struct buf *to, struct err *err)
{
    struct str name = str_of(topic), stem = name;
    bool fifo = str_ends(name, ".fifo");
    if (fifo)
        stem.n -= 5;
    for (size_t i = 0; i < stem.n; i++)
        if (!str_is_letter(stem.p[i]) && !str_is_digit(stem.p[i]) && stem.p[i] != '-' && stem.p[i] != '_')
            stem.n = 0;
    if (stem.n == 0 || name.n > 256)
        return err_set(err, ERR_INPUT, "sns-setup: expected the name of a topic: letters, digits, '-' and '_', got \"%.80s\"", topic);
    buf_printf(
        to,
        "#!/bin/sh\n"
        "# Makes a topic of Amazon SNS, a subscription and the right to publish to this topic only, and prints the exporter's keys.\n"
        "# Made by \"benchwrap exporter sns-setup\". A second call changes nothing. Needs: aws with keys that may do this, once.\n"
        "set -eu\n"
        "TOPIC=${TOPIC:-%s}\n"
        "EMAIL=${EMAIL:-}            # gets the messages, after a click in the first one; not for FIFO topics\n"
        "ROLE=${ROLE:-}              # role of the cluster's machines that may publish\n"
        "PUBLISHER=${PUBLISHER:-}    # or a user that may\n\n"
        "topic=$(aws sns create-topic --name \"$TOPIC\"%s --query TopicArn --output text)\n"
        "if [ -n \"$EMAIL\" ]; then\n"
        "    aws sns subscribe --topic-arn \"$topic\" --protocol email --notification-endpoint \"$EMAIL\" --output text >/dev/null\n"
        "    echo \"# $EMAIL gets a message with a link: the subscription begins with a click on it\"\n"
        "fi\n"
        "policy=$(cat <<EOF\n"
        "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"sns:Publish\", \"Resource\": \"$topic\"}]}\n"
        "EOF\n"
        ")\n"
        "[ -z \"$ROLE\" ] || aws iam put-role-policy --role-name \"$ROLE\" --policy-name benchwrap-publish --policy-document \"$policy\"\n"
        "[ -z \"$PUBLISHER\" ] || aws iam put-user-policy --user-name \"$PUBLISHER\" --policy-name benchwrap-publish --policy-document \"$policy\"\n"
        "cat <<EOF\n"
        "# Policy of the identity that publishes:\n"
        "# $policy\n"
        "\n"
        "# ~/.config/benchwrap/config.yaml or /etc/benchwrap.yaml\n"
        "exporters:\n"
        "  - {type: sns, topic: '$topic'}\n"
        "# Then: benchwrap exporter send sns --message \"A test\"\n"
        "EOF\n",
        topic, fifo ? " --attributes FifoTopic=true" : "");
    return to->failed ? err_memory(err, "the text") : 0;
}
