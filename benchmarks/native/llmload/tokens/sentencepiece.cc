// sentencepiece.cc: libsentencepiece behind plain C functions (sentencepiece_calls.h); no exception leaves them.
#include "sentencepiece_calls.h"

#include <sentencepiece_processor.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#define GIVEN extern "C" __attribute__((visibility("default")))
using Model = sentencepiece::SentencePieceProcessor;

GIVEN void *llmload_pieces_open(const char *path, char *why, size_t size)
{
    try {
        auto model = std::make_unique<Model>();
        auto status = model->Load(std::string(path));
        if (status.ok())
            return model.release();
        std::snprintf(why, size, "%s", status.ToString().c_str());
    } catch (const std::exception &e) {
        std::snprintf(why, size, "%s", e.what());
    }
    return nullptr;
}

GIVEN void llmload_pieces_close(void *model)
{
    delete static_cast<Model *>(model);
}

GIVEN long llmload_pieces_encode(void *model, const char *text, size_t n, uint32_t *ids, size_t max)
{
    try {
        std::vector<int> got;
        if (!static_cast<Model *>(model)->Encode(std::string(text, n), &got).ok())
            return -1;
        for (size_t i = 0; i < got.size() && i < max; i++)
            ids[i] = static_cast<uint32_t>(got[i]);
        return static_cast<long>(got.size());
    } catch (const std::exception &) {
        return -1;
    }
}

GIVEN int llmload_pieces_size(void *model)
{
    return static_cast<Model *>(model)->GetPieceSize();
}

GIVEN const char *llmload_pieces_text(void *model, int id)
{
    auto m = static_cast<Model *>(model);
    if (id < 0 || id >= m->GetPieceSize() || m->IsControl(id) || m->IsUnknown(id) || m->IsUnused(id) || m->IsByte(id))
        return nullptr;
    return m->IdToPiece(id).c_str();
}
